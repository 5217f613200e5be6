// The formats that can be read: a new one is a row here and a file of its own.
#include "io/npy.hpp"
#include "io/npz.hpp"
#include "io/safetensors.hpp"
#include "qkv/io/format.hpp"

namespace qkv {

const std::vector<Format>& format_list() {
  static const std::vector<Format> formats = {
      {"npy", ".npy", npy_sniff, npy_read, npy_members},
      {"npz", ".npz", npz_sniff, npz_read, npz_members},
      {"safetensors", ".safetensors", safetensors_sniff, safetensors_read, safetensors_members},
  };
  return formats;
}

}  // namespace qkv

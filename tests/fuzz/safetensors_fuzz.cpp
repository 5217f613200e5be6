// .safetensors: every tensor of any bytes is an array or an Error.
#include "io/safetensors.hpp"
#include "touch.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const qkv::Format format{"safetensors", ".safetensors", qkv::safetensors_sniff,
                           qkv::safetensors_read, qkv::safetensors_members};
  qkv::fuzz::read_all(format, qkv::fuzz::bytes_of(data, size));
  return 0;
}

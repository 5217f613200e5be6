// .npz: every member of any bytes is an array or an Error.
#include "io/npz.hpp"
#include "touch.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const qkv::Format format{"npz", ".npz", qkv::npz_sniff, qkv::npz_read, qkv::npz_members};
  qkv::fuzz::read_all(format, qkv::fuzz::bytes_of(data, size));
  return 0;
}

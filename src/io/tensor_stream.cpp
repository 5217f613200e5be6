// Standard input as a stream of .npy arrays back to back.
#include <unistd.h>

#include <string>

#include "io/npy.hpp"
#include "io/take.hpp"
#include "qkv/base/error.hpp"
#include "qkv/io/read.hpp"

namespace qkv {

Array TensorStream::next() {
  const std::string where = "standard input, array " + std::to_string(count_ + 1);
  if (::isatty(descriptor_) != 0) {
    throw Error(Complaint{.what = "standard input is a terminal",
                          .where = "-",
                          .expected = "a .npy array from a pipe or a file"});
  }
  std::optional<Array> array = npy_read_next(take_from(descriptor_, where), std::nullopt, where);
  if (!array) {
    throw Error(Complaint{.what = count_ == 0 ? "standard input is empty" : "standard input ended",
                          .where = "-",
                          .expected = "a .npy array for each '-'",
                          .got = count_ == 0   ? ""
                                 : count_ == 1 ? "1 array"
                                               : std::to_string(count_) + " arrays"});
  }
  ++count_;
  return std::move(*array);
}

}  // namespace qkv

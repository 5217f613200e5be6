// Reading a tensor argument: FILE.npy, FILE.npz:MEMBER, FILE.safetensors:NAME or -, each with an
// optional [part].
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "qkv/io/format.hpp"
#include "qkv/tensor/array.hpp"

namespace qkv {

/// Maps a regular file read-only; reads a pipe or a device to its end.
/// throws  Error: no such file, a directory, not readable, empty file
Bytes open_bytes(const std::string& path);

/// Standard input as a stream of .npy arrays back to back: each call of next() reads the next array
/// and no byte more.
class TensorStream {
 public:
  explicit TensorStream(int descriptor) : descriptor_(descriptor) {}
  /// throws  Error: the stream ended, or what came is no .npy
  Array next();
  std::size_t arrays_read() const { return count_; }

 private:
  int descriptor_;
  std::size_t count_ = 0;
};

/// Reads one tensor argument as CLI users write it. `stdin_stream` serves "-".
///
/// throws  Error as the format does; "member missing" lists the members there are; a bad part names
/// the axis
Array read_tensor(const std::string& argument, TensorStream& stdin_stream);

/// The names of all tensors in a file (.npz, .safetensors); {""} for .npy.
std::vector<std::string> tensor_names(const std::string& path);

}  // namespace qkv

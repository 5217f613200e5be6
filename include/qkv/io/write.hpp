// Writing: a file appears under its name only when it is whole; a failure leaves the old one as it
// was.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "qkv/tensor/array.hpp"

namespace qkv {

/// A new file beside `path`, moved over it by commit(). Without commit() the temporary file is
/// removed, also when the process is ended by SIGINT or SIGTERM. "-" is standard output and has no
/// temporary file. A path that is a device or a pipe (/dev/null, a FIFO) is written directly, and a
/// symbolic link is followed.
///
/// throws  Error naming the path: no such directory, not permitted, no space left
class OutputFile {
 public:
  explicit OutputFile(std::string path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(const void* bytes, std::size_t count);
  void write(std::string_view text) { write(text.data(), text.size()); }
  /// Flushes, checks that everything reached the disk, and renames.
  void commit();
  const std::string& path() const { return path_; }

 private:
  void close_and_remove() noexcept;
  std::string path_;       ///< as the user wrote it
  std::string target_;     ///< after symbolic links
  std::string temporary_;  ///< "" where written directly
  int descriptor_ = -1;
  bool committed_ = false;
};

/// The bytes that NumPy writes in front of an array: version 1.0, the dict, padding to 64. bfloat16
/// is '<V2' like ml_dtypes does; a header too long for version 1.0 takes 2.0.
std::string npy_header(DType dtype, const Shape& shape);

/// A .npy file whose elements come one after the other, as write_npy() would write them.
class NpyWriter {
 public:
  NpyWriter(const std::string& path, DType dtype, const Shape& shape);

  /// The next `count` elements, in row-major order.
  void write(const void* elements, std::size_t count);
  /// throws  Error as OutputFile does
  void commit() { file_.commit(); }

 private:
  OutputFile file_;
  std::size_t element_size_;
};

/// Writes one .npy file, C order, little endian; "-" is standard output.
/// throws  Error as OutputFile does
void write_npy(const std::string& path, const Array& array);

}  // namespace qkv

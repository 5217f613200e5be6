// What the tests of readers and writers share: folders that go away, files made by hand, values,
// errors.
#pragma once

#include <stdlib.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/base/error.hpp"
#include "qkv/io/format.hpp"
#include "qkv/io/read.hpp"
#include "qkv/tensor/array.hpp"

namespace qkv::io_test {

/// A new folder, removed with all that is in it.
class Folder {
 public:
  Folder() {
    std::string name =
        (std::filesystem::temp_directory_path() / ("qkv_test_" + std::string(6, 'X'))).string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder for the test");
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) {
      names.push_back(entry.path().filename().string());
    }
    return names;
  }

 private:
  std::string path_;
};

/// False, having said so, where /proc is not mounted, as in a bare chroot.
inline bool has_proc() {
  if (std::filesystem::exists("/proc/self")) return true;
  std::cout << "skipped: /proc is not mounted\n";
  return false;
}

inline std::string data_file(const std::string& name) {
  return std::string(QKV_TEST_DATA) + "/npy/" + name;
}

inline std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// Writes `bytes` and returns the path.
inline std::string put(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return path;
}

/// The bytes of a .npy file made by hand, the dict as it stands.
inline std::string npy_bytes(const std::string& dict, const std::string& data, int version = 1) {
  std::string bytes = "\x93NUMPY";
  bytes += static_cast<char>(version);
  bytes += '\0';
  for (std::size_t i = 0; i < (version == 1 ? 2U : 4U); ++i) {
    bytes += static_cast<char>(dict.size() >> (8 * i) & 0xff);
  }
  return bytes + dict + data;
}

inline std::string dict(const std::string& descr, const std::string& shape,
                        const std::string& order = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }";
}

template <class T>
std::string raw(const std::vector<T>& values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

/// Every element in row-major order.
inline std::vector<double> values(const Array& array) {
  std::vector<double> all(element_count(array.shape));
  copy_elements(array, all.data());
  return all;
}

/// 1, 4, 7 ... as tests/data/make_npy.py counts.
inline std::vector<double> counted(std::size_t count) {
  std::vector<double> all(count);
  for (std::size_t n = 0; n < count; ++n) all[n] = 3.0 * static_cast<double>(n) + 1.0;
  return all;
}

/// A float32 array of these numbers.
inline Array floats(const Shape& shape) {
  auto memory = allocate_bytes(element_count(shape) * sizeof(float));
  auto* out = reinterpret_cast<float*>(memory.get());
  for (std::size_t n = 0; n < element_count(shape); ++n) out[n] = 3 * static_cast<float>(n) + 1;
  return row_major_array(DType::float32, shape, memory.get(), memory);
}

inline Array read(const std::string& argument) {
  TensorStream nothing(-1);
  return read_tensor(argument, nothing);
}

/// The error line, then behind " | " the hint if there is one; "" where nothing is thrown.
template <class Step>
std::string error_of(Step&& step) {
  try {
    step();
  } catch (const Error& error) {
    const Complaint& first = error.complaints().front();
    return text(first) + (first.hint.empty() ? "" : " | " + first.hint);
  }
  return "";
}

inline std::string read_error(const std::string& argument) {
  return error_of([&] { read(argument); });
}

/// The error of reading a file named `name` of these bytes, with the folder cut from the text.
inline std::string error_of_bytes(std::string_view bytes, const std::string& name = "x.npy") {
  const Folder folder;
  std::string error = read_error(put(folder / name, bytes));
  const std::string prefix = folder / "";
  for (std::size_t at = error.find(prefix); at != std::string::npos; at = error.find(prefix)) {
    error.erase(at, prefix.size());
  }
  return error;
}

/// The values of a file of these bytes.
inline std::vector<double> values_of_bytes(std::string_view bytes) {
  const Folder folder;
  return values(read(put(folder / "x.npy", bytes)));
}

}  // namespace qkv::io_test

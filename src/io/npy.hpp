// .npy 1.0, 2.0 and 3.0: our own reader, every length checked before it is used.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/take.hpp"
#include "qkv/io/format.hpp"
#include "qkv/tensor/array.hpp"

namespace qkv {

/// What an .npy header says of the bytes behind it.
struct NpyHeader {
  DType dtype = DType::float32;
  bool swapped = false;        ///< the other byte order than this machine's
  bool fortran_order = false;  ///< the first axis runs fastest
  Shape shape = {};
  std::size_t data_bytes = 0;  ///< of all elements
};

/// Reads the dict: a Python literal with the keys descr, fortran_order and shape in any order.
///
/// throws  Error: not such a dict, an element type that qkv does not read, a shape whose size in
/// bytes does not fit 63 bits
NpyHeader parse_npy_dict(std::string_view dict, const std::string& where);

/// Reads one array from bytes that come one after another, and no byte more; memory grows only as
/// they come. Nothing where there is not even a first byte. `declared` is the size of header and
/// data together where something outside the array tells it.
///
/// throws  Error: no .npy, cut off, header and `declared` disagree
std::optional<Array> npy_read_next(const Take& take, std::optional<std::size_t> declared,
                                   const std::string& where);

bool npy_sniff(const Bytes& bytes);
Array npy_read(const Bytes& bytes, std::string_view member, const std::string& where);
std::vector<std::string> npy_members(const Bytes& bytes, const std::string& where);

}  // namespace qkv

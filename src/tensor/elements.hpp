// Elements: any run of consecutive elements of an array, in row-major order, without converting the
// rest.
#pragma once

#include <cstddef>

#include "qkv/tensor/array.hpp"

namespace qkv {

/// A reader for arrays that are too large to convert as a whole. Keeps the array's elements alive.
class Elements {
 public:
  explicit Elements(const Array& array);

  std::size_t count() const { return count_; }

  /// Elements [first, first + count) as copy_elements() converts them.
  void copy(std::size_t first, std::size_t count, double* out) const;

  /// The same elements as they are, in this machine's byte order.
  void copy_raw(std::size_t first, std::size_t count, std::byte* out) const;

 private:
  template <class Visit>
  void for_each_run(std::size_t first, std::size_t count, Visit&& visit) const;

  Array array_;  ///< of rank 1 where the elements lie in order, whatever the file's shape
  std::size_t count_ = 0;
};

}  // namespace qkv

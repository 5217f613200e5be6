// Tensor<T, Rank>: row-major elements of float or double, the rank in the type.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "qkv/tensor/array.hpp"

namespace qkv {

/// Copies share their elements, as in NumPy; clone() makes new ones. The elements of a mapped input
/// must not be written: make() what you write to.
template <class T, std::size_t Rank>
class Tensor {
 public:
  using Sizes = std::array<std::size_t, Rank>;

  Tensor() = default;

  /// New elements, all zero.
  static Tensor make(const Sizes& sizes) {
    Tensor tensor;
    tensor.sizes_ = sizes;
    auto memory = allocate_bytes(tensor.size() * sizeof(T));
    tensor.data_ = reinterpret_cast<T*>(memory.get());
    tensor.owner_ = std::move(memory);
    return tensor;
  }

  /// Elements that somebody else owns.
  static Tensor over(const Sizes& sizes, T* data, std::shared_ptr<const void> owner) {
    Tensor tensor;
    tensor.sizes_ = sizes;
    tensor.data_ = data;
    tensor.owner_ = std::move(owner);
    return tensor;
  }

  const Sizes& sizes() const { return sizes_; }
  std::size_t size(std::size_t axis) const { return sizes_[axis]; }
  std::size_t size() const {
    std::size_t count = 1;
    for (const std::size_t axis : sizes_) count *= axis;
    return count;
  }
  bool empty() const { return data_ == nullptr; }
  Shape shape() const { return Shape(sizes_.begin(), sizes_.end()); }

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::span<T> elements() { return {data_, size()}; }
  std::span<const T> elements() const { return {data_, size()}; }
  const std::shared_ptr<const void>& owner() const { return owner_; }

  template <class... Index>
  T& operator()(Index... index) {
    return data_[position(index...)];
  }
  template <class... Index>
  const T& operator()(Index... index) const {
    return data_[position(index...)];
  }

  /// The innermost axis at an index of all the others: tensor.row(b, h, l) has S elements.
  template <class... Index>
  std::span<T> row(Index... index) {
    return {data_ + position(index..., std::size_t{0}), sizes_[Rank - 1]};
  }
  template <class... Index>
  std::span<const T> row(Index... index) const {
    return {data_ + position(index..., std::size_t{0}), sizes_[Rank - 1]};
  }

  Tensor clone() const {
    Tensor copy = make(sizes_);
    std::copy_n(data_, size(), copy.data_);
    return copy;
  }

  /// The same elements under other sizes of the same count.
  template <std::size_t NewRank>
  Tensor<T, NewRank> reshaped(const std::array<std::size_t, NewRank>& sizes) const {
    auto tensor = Tensor<T, NewRank>::over(sizes, data_, owner_);
    assert(tensor.size() == size());
    return tensor;
  }

 private:
  template <class... Index>
  std::size_t position(Index... index) const {
    static_assert(sizeof...(Index) == Rank);
    const std::array<std::size_t, Rank> at{static_cast<std::size_t>(index)...};
    std::size_t offset = 0;
    for (std::size_t axis = 0; axis < Rank; ++axis) {
      // One past the end is allowed so that the row of an empty axis can be named.
      assert(at[axis] < sizes_[axis] || (at[axis] == 0 && sizes_[axis] == 0));
      offset = offset * sizes_[axis] + at[axis];
    }
    return offset;
  }

  Sizes sizes_ = {};
  T* data_ = nullptr;
  std::shared_ptr<const void> owner_ = nullptr;
};

/// The array's elements as T. Shares them where they are plain T already, else converts.
/// throws  Error unless the array has rank Rank
template <class T, std::size_t Rank>
Tensor<T, Rank> as_rank(const Array& array);

/// A row-major array over the tensor's elements, shared.
template <class T, std::size_t Rank>
Array as_array(const Tensor<T, Rank>& tensor) {
  return row_major_array(dtype_of<T>(), tensor.shape(),
                         reinterpret_cast<const std::byte*>(tensor.data()), tensor.owner());
}

}  // namespace qkv

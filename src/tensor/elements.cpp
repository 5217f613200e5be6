// Elements: consecutive elements of an array, a run of its last axis at a time.
#include "tensor/elements.hpp"

#include <algorithm>

namespace qkv {

Elements::Elements(const Array& array) : array_(array), count_(element_count(array.shape)) {
  Array in_file_order = array;
  in_file_order.swapped = false;  // swapped bytes are no reason to go row by row
  if (is_plain(in_file_order)) {
    array_.shape = {count_};
    array_.strides = {static_cast<std::ptrdiff_t>(size_of(array.dtype))};
  }
}

/// Calls visit(elements of one row as an array of rank 1) until `count` elements have been visited.
template <class Visit>
void Elements::for_each_run(std::size_t first, std::size_t count, Visit&& visit) const {
  if (count == 0) return;
  const std::size_t row = array_.shape.back();
  Array run;
  run.dtype = array_.dtype;
  run.swapped = array_.swapped;
  run.shape = {0};
  run.strides = {array_.strides.back()};
  while (count > 0) {
    const std::byte* start = array_.data;
    std::size_t position = first;
    for (std::size_t axis = array_.shape.size(); axis-- > 0;) {
      const std::size_t index = position % array_.shape[axis];
      start += array_.strides[axis] * static_cast<std::ptrdiff_t>(index);
      position /= array_.shape[axis];
    }
    run.data = start;
    run.shape[0] = std::min(count, row - first % row);
    visit(run);
    first += run.shape[0];
    count -= run.shape[0];
  }
}

void Elements::copy(std::size_t first, std::size_t count, double* out) const {
  for_each_run(first, count, [&](const Array& run) {
    copy_elements(run, out);
    out += run.shape[0];
  });
}

void Elements::copy_raw(std::size_t first, std::size_t count, std::byte* out) const {
  for_each_run(first, count, [&](const Array& run) {
    copy_bytes(run, out);
    out += run.shape[0] * size_of(run.dtype);
  });
}

}  // namespace qkv

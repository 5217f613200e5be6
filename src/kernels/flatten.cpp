// A problem as pointers and strides.
#include "flatten.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "part.hpp"
#include "qkv/attention/mask.hpp"

namespace qkv {

namespace {

/// Where an array's elements lie, for a kernel that steps in elements; axes of length 1 are
/// broadcast.
Strides strides_of(const Array& array) {
  const auto stride = [&](std::size_t axis) {
    const auto size = static_cast<std::ptrdiff_t>(size_of(array.dtype));
    return array.shape[axis] == 1 ? 0 : array.strides[axis] / size;
  };
  return {stride(0), stride(1), stride(2), stride(3)};
}

/// The array's rows; `owner` keeps a copy alive where it had to be converted.
Source source_of(const Array& array, std::shared_ptr<const void>& owner) {
  if (!is_readable(array)) {
    const Array converted = as_array(as_rank<float, 4>(array));
    owner = converted.owner;
    return {.floats = reinterpret_cast<const float*>(converted.data), .at = strides_of(converted)};
  }
  if (array.dtype == DType::float32) {
    return {.floats = reinterpret_cast<const float*>(array.data), .at = strides_of(array)};
  }
  return {.halves = reinterpret_cast<const std::uint16_t*>(array.data),
          .bfloat = array.dtype == DType::bfloat16,
          .at = strides_of(array)};
}

/// Strides of a row-major tensor; axes of length 1 are broadcast.
template <class T>
Strides strides_of(const Tensor<T, 4>& tensor) {
  const auto stride = [&](std::size_t axis) {
    std::size_t elements = 1;
    for (std::size_t later = axis + 1; later < 4; ++later) elements *= tensor.size(later);
    return tensor.size(axis) == 1 ? 0 : static_cast<std::ptrdiff_t>(elements);
  };
  return {stride(0), stride(1), stride(2), stride(3)};
}

float empty_weight(EmptyRows empty_rows, std::size_t S) {
  if (empty_rows == EmptyRows::nan) return std::numeric_limits<float>::quiet_NaN();
  if (empty_rows == EmptyRows::uniform) return static_cast<float>(1.0 / static_cast<double>(S));
  return 0;
}

void flatten_visibility(const Visibility<float>& visibility, FlatProblem& flat) {
  flat.hides = visibility.any();
  flat.causal = visibility.causal;
  if (visibility.window) {
    flat.window_left = visibility.window->left;
    flat.window_right = visibility.window->right;
  }
  if (!visibility.offset.empty()) flat.offset = visibility.offset.data();
  if (!visibility.window_offset.empty()) flat.window_offset = visibility.window_offset.data();
  if (!visibility.lengths.empty()) flat.lengths = visibility.lengths.data();
  flat.padded = visibility.padded.data();
  flat.hidden = visibility.hidden_by_mask.data();
  if (flat.hidden != nullptr) flat.hidden_at = strides_of(visibility.hidden_by_mask);
  flat.added = visibility.added.data();
  if (flat.added != nullptr) flat.added_at = strides_of(visibility.added);
  if (!visibility.slopes.empty()) flat.slopes = visibility.slopes.data();
  flat.fill = fill_value<float>(visibility.fill);
}

}  // namespace

bool is_readable(const Array& array) {
  const bool half = array.dtype == DType::float16 || array.dtype == DType::bfloat16;
  if ((!half && array.dtype != DType::float32) || array.swapped || array.data == nullptr)
    return false;
  const auto size = static_cast<std::ptrdiff_t>(size_of(array.dtype));
  if (array.shape[3] > 1 && array.strides[3] != size) return false;
  if (reinterpret_cast<std::uintptr_t>(array.data) % size_of(array.dtype) != 0) return false;
  return std::ranges::all_of(array.strides, [&](auto stride) { return stride % size == 0; });
}

bool is_flat(const Sizes& sizes) {
  constexpr std::size_t most = std::size_t{1} << 30;
  for (const std::size_t axis : {sizes.B, sizes.H, sizes.G, sizes.L, sizes.S, sizes.D, sizes.Dv}) {
    if (axis == 0 || axis >= most) return false;
  }
  return true;
}

FlatProblem flat_sizes(const Sizes& sizes) {
  const auto signed_size = [](std::size_t size) { return static_cast<std::ptrdiff_t>(size); };
  FlatProblem flat;
  flat.B = signed_size(sizes.B);
  flat.H = signed_size(sizes.H);
  flat.G = signed_size(sizes.G);
  flat.L = signed_size(sizes.L);
  flat.S = signed_size(sizes.S);
  flat.D = signed_size(sizes.D);
  flat.Dv = signed_size(sizes.Dv);
  return flat;
}

Flattened::Flattened(const Problem<float>& problem, const HeadViews& views, const KernelRun& run)
    : part(run.part.value_or(whole(problem.sizes))), flat(flat_sizes(problem.sizes)) {
  const Sizes& sizes = problem.sizes;
  flat.q = source_of(views.q, owners_[0]);
  flat.k = source_of(views.k, owners_[1]);
  flat.v = source_of(views.v, owners_[2]);
  output = make_output<float>(problem, run);
  flat.heads = output.heads.data();
  flat.heads_at = strides_of(output.heads);
  if (run.heads_inside) std::swap(flat.heads_at.h, flat.heads_at.i);
  flat.lse = output.lse.data();
  if (flat.lse != nullptr) {
    flat.lse_at = {.b = static_cast<std::ptrdiff_t>(output.lse.size(1) * output.lse.size(2)),
                   .h = static_cast<std::ptrdiff_t>(output.lse.size(2)),
                   .i = 1};
  }
  flat.first_b = static_cast<std::ptrdiff_t>(part.b);
  flat.first_h = static_cast<std::ptrdiff_t>(part.h);
  flat.first_query = static_cast<std::ptrdiff_t>(part.l);
  flat.scale = static_cast<float>(problem.scale);
  flat.softcap = static_cast<float>(problem.settings.softcap.value_or(0));
  flatten_visibility(problem.visibility, flat);
  flat.empty_weight = empty_weight(problem.settings.empty_rows, sizes.S);
}

}  // namespace qkv

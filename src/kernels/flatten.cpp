// A problem as pointers and strides.
#include "flatten.hpp"

#include <algorithm>
#include <limits>

#include "qkv/attention/mask.hpp"

namespace qkv {

namespace {

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

bool is_flat(const Sizes& sizes) {
  constexpr std::size_t most = std::size_t{1} << 30;
  for (const std::size_t axis : {sizes.B, sizes.H, sizes.G, sizes.L, sizes.S, sizes.D, sizes.Dv}) {
    if (axis == 0 || axis >= most) return false;
  }
  return true;
}

KernelOutput<float> make_output(const Problem<float>& problem, bool wants_lse) {
  const Sizes& sizes = problem.sizes;
  KernelOutput<float> output;
  output.heads = Tensor<float, 4>::make({sizes.B, sizes.H, sizes.L, sizes.Dv});
  if (wants_lse || !problem.sinks.empty())
    output.lse = Tensor<float, 3>::make({sizes.B, sizes.H, sizes.L});
  return output;
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

FlatProblem flatten(const Problem<float>& problem, const QueryKeyValue<float>& qkv,
                    KernelOutput<float>& output) {
  const Sizes& sizes = problem.sizes;
  FlatProblem flat = flat_sizes(sizes);
  flat.q = qkv.q.data();
  flat.k = qkv.k.data();
  flat.v = qkv.v.data();
  flat.q_at = strides_of(qkv.q);
  flat.k_at = strides_of(qkv.k);
  flat.v_at = strides_of(qkv.v);
  flat.heads = output.heads.data();
  flat.heads_at = strides_of(output.heads);
  flat.lse = output.lse.data();
  flat.scale = static_cast<float>(problem.scale);
  flat.softcap = static_cast<float>(problem.settings.softcap.value_or(0));
  flatten_visibility(problem.visibility, flat);
  flat.empty_weight = empty_weight(problem.settings.empty_rows, sizes.S);
  return flat;
}

}  // namespace qkv

// lay_out(): q, k and v for a kernel, copied only where something has to be computed.
#include "lay_out.hpp"

#include <algorithm>

#include "qkv/attention/project.hpp"

namespace qkv {

namespace {

/// Rows [first, first + count) of batch row b as an array of their own.
Array rows_of(const Array& x, std::size_t b, std::size_t first, std::size_t count) {
  Array rows = x;
  rows.shape = {1, count, x.shape[2]};
  rows.data += static_cast<std::ptrdiff_t>(b) * x.strides[0] +
               static_cast<std::ptrdiff_t>(first) * x.strides[1];
  return rows;
}

/// project() in float32 or float64 of what a file holds: of another type, it is converted a few
/// rows at a time.
template <class T>
Tensor<T, 3> project_stored(const Array& x, const Linear<T>& linear) {
  if (x.dtype == dtype_of<T>() && is_plain(x)) return project(as_rank<T, 3>(x), linear);
  constexpr std::size_t elements_at_once = std::size_t{1} << 18;
  const std::size_t B = x.shape[0], L = x.shape[1], E = std::max<std::size_t>(x.shape[2], 1);
  const std::size_t at_once = std::max<std::size_t>(elements_at_once / E, 1);
  auto y = Tensor<T, 3>::make({B, L, linear.out()});
  for (std::size_t b = 0; b < B; ++b) {
    for (std::size_t first = 0; first < L; first += at_once) {
      const std::size_t count = std::min(at_once, L - first);
      const Tensor<T, 3> some = project(as_rank<T, 3>(rows_of(x, b, first, count)), linear);
      std::ranges::copy(some.elements(), y.data() + (b * L + first) * linear.out());
    }
  }
  return y;
}

/// (B,L,heads*width) as (B,heads,L,width), where it lies
template <class T>
Array by_head(const Tensor<T, 3>& x, std::size_t heads) {
  const std::size_t width = x.size(2) / heads;
  return transposed(reshaped(as_array(x), {x.size(0), x.size(1), heads, width}), {0, 2, 1, 3});
}

}  // namespace

template <class T>
HeadViews lay_out(const Problem<T>& problem) {
  if (!problem.stored) return prepare(problem);
  const Stored& stored = *problem.stored;
  HeadViews views;
  if (problem.sizes.projects) {
    const Array& context = problem.sizes.has_context ? stored.context : stored.x;
    views.q = by_head(project_stored(stored.x, problem.query), problem.sizes.H);
    views.k = by_head(project_stored(context, problem.key), problem.sizes.G);
    views.v = by_head(project_stored(context, problem.value), problem.sizes.G);
  } else {
    views.q = stored.q;
    views.k = stored.k;
    views.v = stored.v;
  }

  // Norms, rotation and the cache make tensors of their own; v without a cache stays where it is.
  const bool changes_q = problem.settings.qk_norm || problem.settings.rope_base;
  const bool has_cache = !problem.past_k.empty();
  if (!changes_q && !has_cache) return views;
  Problem<T> rest = problem;
  rest.stored = std::nullopt;
  rest.sizes.projects = false;
  if (changes_q) rest.q = as_rank<T, 4>(views.q);
  rest.k = as_rank<T, 4>(views.k);
  if (has_cache) rest.v = as_rank<T, 4>(views.v);
  const QueryKeyValue<T> made = prepare(rest);
  if (changes_q) views.q = as_array(made.q);
  views.k = as_array(made.k);
  if (has_cache) views.v = as_array(made.v);
  return views;
}

template HeadViews lay_out(const Problem<float>&);
template HeadViews lay_out(const Problem<double>&);

}  // namespace qkv

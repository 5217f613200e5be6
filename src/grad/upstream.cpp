// The gradient that comes in: dout, or ones.
#include <algorithm>

#include "qkv/attention/stage_list.hpp"
#include "qkv/base/error.hpp"
#include "qkv/base/text.hpp"
#include "qkv/grad/backward.hpp"

namespace qkv {

namespace {

std::string joined(const std::vector<std::string>& dims) {
  std::string text;
  for (const std::string& dim : dims) text += (text.empty() ? "" : ",") + dim;
  return text;
}

}  // namespace

template <class T>
Tensor<T, 4> upstream(const std::optional<NamedArray>& dout, const Inputs& inputs,
                      const Problem<T>& problem) {
  const Sizes& sizes = problem.sizes;
  const StageShape out = stage_shapes(inputs, problem.settings, sizes).back();
  const bool by_head = sizes.rank_four && !sizes.has_wo;
  const std::array<std::size_t, 4> four =
      by_head ? std::array{out.shape[0], out.shape[1], out.shape[2], out.shape[3]}
              : std::array{sizes.B, std::size_t{1}, sizes.L, out.shape.back()};
  if (!dout) {
    auto ones = Tensor<T, 4>::make(four);
    std::ranges::fill(ones.elements(), T(1));
    return ones;
  }
  const Shape& shape = dout->array.shape;
  if (shape != out.shape) {
    const bool same_count = element_count(shape) == element_count(out.shape);
    throw Error(Complaint{
        .what = "dout has another shape than out",
        .where = dout->where,
        .expected = shape_text(out.shape) + " = " + joined(out.dims) + " as out has",
        .got = shape_text(shape),
        .hint = same_count ? "the same number of elements: are axes exchanged or joined?" : ""});
  }
  return as_rank<T, 4>(reshaped(dout->array, {four[0], four[1], four[2], four[3]}));
}

template Tensor<float, 4> upstream(const std::optional<NamedArray>&, const Inputs&,
                                   const Problem<float>&);
template Tensor<double, 4> upstream(const std::optional<NamedArray>&, const Inputs&,
                                    const Problem<double>&);

}  // namespace qkv

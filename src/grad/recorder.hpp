// Recorder: gradients as they come up, under the names and in the shapes that the user knows.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/attention/stage_list.hpp"
#include "qkv/grad/gradient.hpp"

namespace qkv {

template <class T>
class Recorder {
 public:
  explicit Recorder(std::vector<StageShape> shapes) : shapes_(std::move(shapes)) {}

  /// A stage, in the shape in which trace shows it. `given` where it is a tensor of the user's too.
  template <std::size_t Rank>
  void stage(std::string_view id, const Tensor<T, Rank>& values, bool given = false) {
    const auto found = std::ranges::find(shapes_, id, &StageShape::id);
    add(stages_, id, given ? GradientOf::input : GradientOf::stage, found->shape, values);
  }
  /// A stage that the user gave in a shape of its own.
  template <std::size_t Rank>
  void given(std::string_view id, const Shape& shape, const Tensor<T, Rank>& values) {
    add(stages_, id, GradientOf::input, shape, values);
  }
  template <std::size_t Rank>
  void input(std::string_view name, const Shape& shape, const Tensor<T, Rank>& values) {
    add(inputs_, name, GradientOf::input, shape, values);
  }
  /// A weight, bias, gain or sink; none where it is empty.
  template <std::size_t Rank>
  void parameter(std::string_view name, const Tensor<T, Rank>& values) {
    if (!values.empty()) add(parameters_, name, GradientOf::parameter, values.shape(), values);
  }

  std::vector<Gradient<T>> all() && {
    std::vector<Gradient<T>> all = std::move(stages_);
    for (auto* more : {&inputs_, &parameters_}) std::ranges::move(*more, std::back_inserter(all));
    return all;
  }

 private:
  template <std::size_t Rank>
  void add(std::vector<Gradient<T>>& to, std::string_view of, GradientOf kind, const Shape& shape,
           const Tensor<T, Rank>& values) {
    to.push_back({std::string(of), kind, shape, values.template reshaped<1>({values.size()})});
  }

  std::vector<StageShape> shapes_;
  std::vector<Gradient<T>> stages_ = {}, inputs_ = {}, parameters_ = {};
};

}  // namespace qkv

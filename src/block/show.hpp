// Offers a stage without heads to the hook.
#pragma once

#include <string_view>

#include "qkv/attention/pipeline.hpp"
#include "qkv/tensor/tensor.hpp"

namespace qkv {

/// The hook sees (B,1,L,.); what it leaves is what the next step works on.
template <class T>
Tensor<T, 3> show(const OnStage<T>& on_stage, std::string_view stage, const Tensor<T, 3>& value) {
  if (!on_stage) return value;
  auto four = value.template reshaped<4>({value.size(0), 1, value.size(1), value.size(2)});
  on_stage(stage, four);
  return four.template reshaped<3>({four.size(0), four.size(2), four.size(3)});
}

}  // namespace qkv

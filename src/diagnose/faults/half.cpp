// Half: rounding to float16 and bfloat16, and what these can hold.
#include "half.hpp"

#include <algorithm>
#include <cmath>

#include "qkv/tensor/half.hpp"

namespace qkv::faults {

double Half::rounded(double value) const {
  const auto single = static_cast<float>(value);
  return dtype == DType::float16 ? float16_to_float(float_to_float16(single))
                                 : bfloat16_to_float(float_to_bfloat16(single));
}

bool Half::holds(double value) const { return rounded(value) == value || std::isnan(value); }

bool gave_non_finite(const Case& the_case) {
  return std::ranges::any_of(the_case.got, [](const auto& entry) {
    const auto& [id, stage] = entry;
    const bool hides = id == "masked";
    return std::ranges::any_of(stage.value.elements(), [hides](double value) {
      return !std::isfinite(value) && !(hides && value < 0);
    });
  });
}

}  // namespace qkv::faults

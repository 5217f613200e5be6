// Logits: what went into the softmax, from the last stage before it that is held.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "qkv/checks/check.hpp"

namespace qkv::checks {

/// What the scores are multiplied by: --scale, 1/temperature or 1/sqrt(D); none where D is unknown.
template <class T>
std::optional<double> scale_of(const Evidence<T>& evidence);

/// Rows of the stage before attn. Where that stage itself is not held, the steps that lead to it
/// from an earlier one (scale, softcap, mask) are made here, in double.
template <class T>
class Logits {
 public:
  explicit Logits(const Evidence<T>& evidence);

  /// Why there are none, "" where there are.
  const std::string& missing() const { return missing_; }
  /// "masked", "scores*0.5 with the mask".
  const std::string& formula() const { return formula_; }
  /// The stage that they come from.
  const std::string& stage() const { return stage_name_; }

  /// x[b,h,i,:] into `row`; hidden keys have the fill.
  void row(std::size_t b, std::size_t h, std::size_t i, std::vector<double>& row) const;

 private:
  const Tensor<T, 4>* stage_ = nullptr;
  const Visibility<T>* visibility_ = nullptr;  ///< none: the mask is in the stage, or there is none
  double factor_ = 1;
  std::optional<double> cap_ = {};
  std::string stage_name_ = {}, formula_ = {}, missing_ = {};
};

}  // namespace qkv::checks

// Golden cases: attention as PyTorch computes it in float64, written by tests/data/make_golden.py.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "qkv/attention/inputs.hpp"
#include "qkv/attention/settings.hpp"
#include "qkv/tensor/tensor.hpp"

namespace qkv::test {

/// 32 bits for element n of tensor `tag`, the same here and in golden/draw.py.
std::uint32_t hashed(std::uint64_t tag, std::uint64_t n);

/// A multiple of 1/1024 in [-2,2): exact in float and float16.
double hashed_value(std::uint64_t tag, std::uint64_t n);

/// What one stage must be. The sums are over plain elements: finite and smaller than 1e8, so that
/// fills such as -1e9 drown nothing.
struct GoldenStage {
  std::string id;
  Shape shape;  ///< in the pipeline
  Shape shown;  ///< to users: without the axes that the input did not have
  double sum = 0;
  double size_sum = 0;   ///< of |x|
  double mixed_sum = 0;  ///< of x[n]*hashed_value(tag, n): no two elements can change places unseen
  double worst_error =
      0;  ///< bound on the rounding error of any element, in epsilons of the arithmetic
  double summed_error = 0;  ///< the same bounds summed over the plain elements
  std::size_t neg_inf = 0, nan = 0, fills = 0, zeros = 0;
  std::vector<std::size_t> at;  ///< row-major positions
  std::vector<double> values;   ///< at those positions
  std::uint64_t tag = 0;
};

struct GoldenCase {
  std::string name;
  Settings settings;
  Inputs inputs;
  std::vector<GoldenStage> stages;   ///< exactly those that there must be, in order
  std::vector<GoldenStage> present;  ///< present_k, present_v
};

/// Name, settings and inputs of one case of a .json; no stages.
GoldenCase golden_case(const nlohmann::json& entry);

/// The cases of tests/data/golden/NAME.json.
std::vector<GoldenCase> golden_cases(const std::string& name);

/// What is wrong with a stage, "" where nothing is.
template <class T>
std::string mismatch(const Tensor<T, 4>& got, const GoldenStage& want);

}  // namespace qkv::test

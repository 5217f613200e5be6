// Golden cases in half precision: float16 and bfloat16 stages as NumPy rounds them, written by
// tests/data/make_half.py.
#pragma once

#include <string>
#include <vector>

#include "qkv/tensor/arithmetic.hpp"
#include "support/golden.hpp"

namespace qkv::test {

/// What one stage must be, computed from the rounded stages before it.
struct HalfStage {
  std::string id = {};
  Shape shape = {};                              ///< in the pipeline
  std::vector<float> nearest = {};               ///< the exact values, rounded
  std::vector<float> least = {}, greatest = {};  ///< what float32 inside the step may make of them
};

struct HalfCase {
  GoldenCase golden;  ///< its arithmetic is set
  std::vector<HalfStage> stages;
};

/// The cases of tests/data/golden/half.json for float16, or for bfloat16.
std::vector<HalfCase> half_cases(Arithmetic arithmetic);

}  // namespace qkv::test

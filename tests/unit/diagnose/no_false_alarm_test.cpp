// Right computations over the whole option grid, in float32 and rounded to the half types: diagnose
// accuses nobody.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "qkv/diagnose/diagnose.hpp"
#include "qkv/tensor/half.hpp"
#include "support/captured.hpp"
#include "support/golden.hpp"

namespace qkv::test {

namespace {

/// The stage as a file of this type would hold it.
Array stored(const Tensor<float, 4>& stage, const Shape& shape, DType dtype) {
  if (dtype == DType::float32) return reshaped(as_array(stage), shape);
  auto memory = allocate_bytes(stage.size() * sizeof(std::uint16_t));
  auto* halves = reinterpret_cast<std::uint16_t*>(memory.get());
  for (std::size_t n = 0; n < stage.size(); ++n) {
    const float value = stage.data()[n];
    halves[n] = dtype == DType::float16 ? float_to_float16(value) : float_to_bfloat16(value);
  }
  return row_major_array(dtype, shape, memory.get(), memory);
}

/// True where float16 can hold the stage: its range ends at 65504.
bool within_float16(const Tensor<float, 4>& stage) {
  for (const float value : stage.elements()) {
    if (std::isfinite(value) && std::abs(value) > 65504) return false;
  }
  return true;
}

/// What diagnose says against a right computation in float32 whose stages were stored in `dtype`;
/// "" for nothing.
std::string alarm(const GoldenCase& golden, DType dtype) {
  const Captured<float> right = captured<float>(golden.inputs, golden.settings);
  const Sizes sizes = find_sizes(golden.inputs, golden.settings);
  const std::vector<StageShape> shapes = stage_shapes(golden.inputs, golden.settings, sizes);
  std::map<std::string, NamedArray> got;
  for (std::size_t n = 0; n < shapes.size(); ++n) {
    const auto& [id, value] = right.stages[n];
    if (id == "x" || id == "context") continue;
    if (dtype == DType::float16 && !within_float16(value)) return {};
    got[id] = {stored(value, shapes[n].shape, dtype), id + ".npy"};
  }
  const Diagnosis diagnosis = diagnose(make_case(golden.inputs, golden.settings, got));
  if (!diagnosis.first_divergence && diagnosis.faults.empty()) return {};
  return fmt::format("{} as {}: {}", golden.name, name(dtype),
                     diagnosis.first_divergence.value_or("a fault"));
}

}  // namespace

TEST_CASE("diagnose: 1200 right computations over the option grid raise no alarm") {
  std::size_t judged = 0;
  for (const GoldenCase& golden : golden_cases("grid")) {
    for (const DType dtype : {DType::float32, DType::float16, DType::bfloat16}) {
      const std::string said = alarm(golden, dtype);
      INFO(said);
      CHECK(said.empty());
      ++judged;
    }
  }
  CHECK(judged >= 1200);
}

}  // namespace qkv::test

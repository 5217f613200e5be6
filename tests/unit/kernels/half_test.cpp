// float16 and bfloat16 in one pass: the bits of the pipeline, whatever the options.
#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>

#include "qkv/base/error.hpp"
#include "qkv/kernels/kernel.hpp"
#include "support/half_golden.hpp"
#include "unit/kernels/options.hpp"

using namespace qkv;
using namespace qkv::test;

namespace {

bool same_bits(const Tensor<float, 4>& a, const Tensor<float, 4>& b) {
  return a.shape() == b.shape() &&
         std::equal(a.data(), a.data() + a.size(), b.data(), [](float x, float y) {
           return std::bit_cast<std::uint32_t>(x) == std::bit_cast<std::uint32_t>(y);
         });
}

void hold_to_pipeline(const Inputs& inputs, Settings settings, Arithmetic arithmetic) {
  settings.arithmetic = arithmetic;
  const auto problem = make_problem<float>(inputs, settings);
  const Kernel& kernel = choose_kernel<float>("auto", problem.sizes, problem.settings);
  CHECK(kernel.name == "reference");
  const Attended<float> steps = attend(problem);
  const Attended<float> once = attend_in_one_pass(problem, kernel, {}).attended;
  CHECK(same_bits(once.out, steps.out));
  CHECK(same_bits(once.present_k, steps.present_k));
  CHECK(same_bits(once.present_v, steps.present_v));
}

}  // namespace

TEST_CASE("half precision: one pass gives the bits of the steps, whatever the option") {
  for (const Arithmetic arithmetic : {Arithmetic::float16, Arithmetic::bfloat16}) {
    for (const TwinOption& option : twin_options()) {
      for (const Queries queries : both_kinds) {
        INFO(option.name);
        const TwinCase twin = with_options({option}, queries);
        hold_to_pipeline(twin.inputs, twin.settings, arithmetic);
      }
    }
  }
}

TEST_CASE("half precision: one pass gives the bits of the steps with projections and rotations") {
  for (const Arithmetic arithmetic : {Arithmetic::float16, Arithmetic::bfloat16}) {
    for (const HalfCase& half : half_cases(arithmetic)) {
      INFO(half.golden.name);
      hold_to_pipeline(half.golden.inputs, half.golden.settings, arithmetic);
    }
  }
}

TEST_CASE("half precision: kernels of float32 alone are refused") {
  const TwinCase twin = with_options({});
  Settings settings = twin.settings;
  settings.arithmetic = Arithmetic::bfloat16;
  const Sizes sizes = find_sizes(twin.inputs, settings);
  CHECK_THROWS_AS(choose_kernel<float>("tiled", sizes, settings), Error);
  CHECK_THROWS_AS(choose_kernel<float>("decode", sizes, settings), Error);
  CHECK(choose_kernel<float>("reference", sizes, settings).name == "reference");
}

// float16 and bfloat16 in one pass: the bits of the pipeline, whatever the options.
#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <span>
#include <vector>

#include "qkv/base/error.hpp"
#include "qkv/kernels/kernel.hpp"
#include "support/half_golden.hpp"
#include "unit/kernels/options.hpp"

using namespace qkv;
using namespace qkv::test;

namespace {

bool same_bits(std::span<const float> a, std::span<const float> b) {
  return std::ranges::equal(a, b, [](float x, float y) {
    return std::bit_cast<std::uint32_t>(x) == std::bit_cast<std::uint32_t>(y);
  });
}

void hold_to_pipeline(const Inputs& inputs, Settings settings, Arithmetic arithmetic) {
  settings.arithmetic = arithmetic;
  const auto problem = make_problem<float>(inputs, settings);
  const Kernel& kernel = choose_kernel<float>("auto", problem.sizes, problem.settings);
  CHECK(kernel.name == "reference");
  const Attended<float> steps = attend(problem);
  std::vector<float> out;
  const OnePass<float> once =
      attend_in_one_pass<float>(problem, kernel, {}, [&](std::span<const float> elements) {
        out.insert(out.end(), elements.begin(), elements.end());
      });
  CHECK(same_bits(out, steps.out.elements()));
  const auto present_k = as_rank<float, 4>(once.views.k),
             present_v = as_rank<float, 4>(once.views.v);
  CHECK(same_bits(present_k.elements(), steps.present_k.elements()));
  CHECK(same_bits(present_v.elements(), steps.present_v.elements()));
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

// float16 and bfloat16: every stage against NumPy, each from the rounded stages before it.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "qkv/attention/pipeline.hpp"
#include "support/half_golden.hpp"

using namespace qkv;
using namespace qkv::test;

namespace {

struct Count {
  std::size_t all = 0, equal = 0;
};

bool same(float a, float b) { return a == b || (std::isnan(a) && std::isnan(b)); }

/// Compares each stage, and puts the right one in its place before the next step.
void hold_to(const HalfCase& half, Count& count) {
  const auto problem = make_problem<float>(half.golden.inputs, half.golden.settings);
  std::size_t at = 0;
  attend<float>(problem, [&](std::string_view id, Tensor<float, 4>& value) {
    INFO("stage " << id);
    REQUIRE(at < half.stages.size());
    const HalfStage& want = half.stages[at++];
    REQUIRE(id == want.id);
    REQUIRE(value.shape() == want.shape);
    std::size_t outside = 0, first = 0;
    for (std::size_t n = 0; n < value.size(); ++n) {
      const float got = value.data()[n];
      const bool inside =
          same(got, want.nearest[n]) || (got >= want.least[n] && got <= want.greatest[n]);
      if (!inside && outside++ == 0) first = n;
      count.equal += same(got, want.nearest[n]) ? 1 : 0;
    }
    count.all += value.size();
    if (outside > 0) {
      FAIL_CHECK(outside << " of " << value.size() << " elements, the first at " << first << ": "
                         << value.data()[first] << ", expected " << want.nearest[first] << " ("
                         << want.least[first] << " to " << want.greatest[first] << ")");
    }
    value = value.clone();
    std::ranges::copy(want.nearest, value.data());
  });
  CHECK(at == half.stages.size());
}

void hold_all_to(Arithmetic arithmetic) {
  const auto cases = half_cases(arithmetic);
  REQUIRE(cases.size() == 44);
  Count count;
  for (const HalfCase& half : cases) {
    INFO("case " << half.golden.name);
    CHECK_NOTHROW(hold_to(half, count));
  }
  // The rest lie so close to where rounding turns that float32 may fall on the other side.
  CHECK(count.equal * 100 >= count.all * 99);
}

}  // namespace

TEST_CASE("pipeline: every stage in float16 is NumPy's, rounded once") {
  hold_all_to(Arithmetic::float16);
}

TEST_CASE("pipeline: every stage in bfloat16 is NumPy's, rounded once") {
  hold_all_to(Arithmetic::bfloat16);
}

// Central differences: they agree with every gradient, and notice one that is wrong.
#include "qkv/grad/difference_check.hpp"

#include <catch2/catch.hpp>
#include <string>

#include "qkv/grad/backward.hpp"
#include "support/golden.hpp"
#include "support/gradients.hpp"

using namespace qkv;
using namespace qkv::test;

namespace {

std::vector<Gradient<double>> gradients_of(const GoldenCase& golden, const NamedArray& dout) {
  const auto problem = make_problem<double>(golden.inputs, golden.settings);
  return backward<double>(golden.inputs, problem, upstream<double>(dout, golden.inputs, problem))
      .gradients;
}

/// Random configurations: those of the gradients, and the small ones of the grid.
std::vector<GoldenCase> configurations() {
  std::vector<GoldenCase> cases = golden_cases("grad");
  for (GoldenCase& golden : golden_cases("grid")) {
    const Sizes sizes = find_sizes(golden.inputs, golden.settings);
    const bool small = sizes.B * sizes.H * sizes.L * sizes.S <= 1000 && sizes.D * sizes.L <= 200;
    if (small && cases.size() < 200) cases.push_back(std::move(golden));
  }
  return cases;
}

NamedArray dout_of(const GoldenCase& golden, std::size_t number) {
  return comparable_dout(golden.inputs, golden.settings, golden_dout(golden, number));
}

}  // namespace

TEST_CASE("difference check: passes on 200 random configurations") {
  const auto cases = configurations();
  REQUIRE(cases.size() == 200);
  std::size_t checked = 0;
  for (std::size_t n = 0; n < cases.size(); ++n) {
    INFO("case " << cases[n].name);
    const NamedArray dout = dout_of(cases[n], n);
    for (const DifferenceCheck& check : check_by_differences(
             cases[n].inputs, cases[n].settings, dout, gradients_of(cases[n], dout), 2, 4)) {
      INFO("gradient of " << check.of << " at " << check.at << ": " << check.gradient
                          << " and by difference " << check.difference);
      checked += check.checked;
      if (check.checked > 0) CHECK(check.max_rel <= check.limit);
      CHECK(check.limit < 1e-5);
    }
  }
  CHECK(checked > 8000);
}

TEST_CASE("difference check: a gradient that is off by a thousandth fails, whichever it is") {
  const auto cases = golden_cases("grad");
  for (std::size_t n = 0; n < cases.size(); n += 5) {
    INFO("case " << cases[n].name);
    const NamedArray dout = dout_of(cases[n], n);
    const auto right = gradients_of(cases[n], dout);
    auto wrong = right;
    for (Gradient<double>& gradient : wrong) {
      gradient.values = gradient.values.clone();
      for (double& value : gradient.values.elements()) value *= 1.001;
    }
    const auto checks = check_by_differences(cases[n].inputs, cases[n].settings, dout, wrong, 2, 4);
    double of_all = 0;
    for (const auto& gradient : right) of_all = std::max(of_all, size_of(gradient).max_abs);
    for (std::size_t g = 0; g < right.size(); ++g) {
      INFO("gradient of " << checks[g].of);
      if (checks[g].checked > 0 && size_of(right[g]).max_abs > 1e-3 * of_all)
        CHECK_FALSE(checks[g].passes());
    }
  }
}

// Sizes of gradients and clipping, by numbers on paper.
#include "qkv/grad/gradient.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "support/arrays.hpp"

using namespace qkv;
using namespace qkv::test;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

Gradient<double> gradient(const std::string& of, GradientOf kind,
                          const std::vector<double>& values) {
  return {of, kind, {values.size()}, as_rank<double, 1>(array_of({values.size()}, values).array)};
}

}  // namespace

TEST_CASE("gradient size: norm 5 of (3,-4), and what is not finite is counted, not measured") {
  const auto size = size_of(gradient("x", GradientOf::input, {3, -4, std::nan(""), inf, -inf}));
  CHECK(size.norm == 5);
  CHECK(size.max_abs == 4);
  CHECK(size.nan == 1);
  CHECK(size.inf == 2);
  CHECK_FALSE(size.finite());
}

TEST_CASE("gradient size: squares of 1e200 do not overflow") {
  const double norm = size_of(gradient("x", GradientOf::input, {3e200, 4e200})).norm;
  CHECK(std::abs(norm - 5e200) <= 2 * std::numeric_limits<double>::epsilon() * 5e200);
}

TEST_CASE("clip: all weights together are brought to the norm, stages stay") {
  std::vector<Gradient<double>> gradients = {
      gradient("attn", GradientOf::stage, {100}), gradient("x", GradientOf::input, {7}),
      gradient("wq", GradientOf::parameter, {3}), gradient("bq", GradientOf::parameter, {4})};
  const Clipped clipped = clip_gradients(gradients, 1);
  CHECK(clipped.norm == 5);
  CHECK(clipped.of == std::vector<std::string>{"wq", "bq"});
  CHECK(clipped.factor == 1 / (5 + 1e-6));  // as torch.nn.utils.clip_grad_norm_ has it
  CHECK(gradients[0].values(0) == 100);
  CHECK(gradients[1].values(0) == 7);
  CHECK(gradients[2].values(0) == 3 * clipped.factor);
  CHECK(gradients[3].values(0) == 4 * clipped.factor);
}

TEST_CASE("clip: without weights the inputs are clipped; a smaller norm stays as it is") {
  std::vector<Gradient<double>> gradients = {gradient("q", GradientOf::input, {3, 4})};
  CHECK(clip_gradients(gradients, 6).factor == 1);
  CHECK(gradients[0].values(1) == 4);
  CHECK(clip_gradients(gradients, 2.5).factor == 2.5 / (5 + 1e-6));
  CHECK(gradients[0].values(1) == 4 * 2.5 / (5 + 1e-6));
}

TEST_CASE("clip: a norm that is not finite clips nothing") {
  for (const double bad : {inf, -inf, std::nan("")}) {
    std::vector<Gradient<double>> gradients = {gradient("wq", GradientOf::parameter, {3, bad})};
    const Clipped clipped = clip_gradients(gradients, 1);
    CHECK_FALSE(std::isfinite(clipped.norm));
    CHECK(clipped.factor == 1);
    CHECK(gradients[0].values(0) == 3);
  }
}

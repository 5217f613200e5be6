// mask.polarity
#include <catch2/catch.hpp>
#include <cmath>

#include "cases.hpp"

using namespace qkv;
using namespace qkv::test;

namespace {

/// A mask (1,1,L,S) where 1 hides, read from a file.
Case<float> masked(std::size_t L, std::size_t S, const std::vector<int>& hides) {
  Case<float> made;
  made.size(1, 1, 1, L, S, 2, 2);
  made.visibility.hidden_by_mask = Tensor<std::uint8_t, 4>::make({1, 1, hides.size() / S, S});
  for (std::size_t n = 0; n < hides.size(); ++n) {
    made.visibility.hidden_by_mask.data()[n] = static_cast<std::uint8_t>(hides[n]);
  }
  made.inputs.mask = NamedArray{.array = array({1}, {0}), .where = "mask.npy"};
  return made;
}

}  // namespace

TEST_CASE("mask.polarity: a lower triangle that is kept passes") {
  const CheckResult result = masked(3, 3, {0, 1, 1, 0, 0, 1, 0, 0, 0}).run("mask.polarity");
  CHECK(result.status == Status::pass);
  CHECK(std::abs(*result.value - 1.0 / 3) < 1e-12);
  CHECK(result.stage == "mask.npy");
}

TEST_CASE("mask.polarity: an upper triangle meant as blocked and read as kept fails") {
  const CheckResult result = masked(3, 3, {1, 0, 0, 1, 1, 0, 1, 1, 1}).run("mask.polarity");
  CHECK(result.status == Status::fail);
  CHECK(*result.value == 1);  // of the diagonal
  CHECK(contains(result.message, "1 of 3 rows see no key; inverted, 0 would not"));
  CHECK(contains(result.hint, "--mask-true hide"));
}

TEST_CASE("mask.polarity: the hint turns the other way where true hides") {
  auto made = masked(2, 2, {1, 1, 1, 1});
  made.evidence.settings.mask_true = MaskTrue::hide;
  const CheckResult result = made.run("mask.polarity");
  CHECK(result.status == Status::fail);
  CHECK(contains(result.message, "hides every key"));
  CHECK(contains(result.hint, "--mask-true attend"));
}

TEST_CASE("mask.polarity: a diagonal alone that is hidden may be meant, so it warns") {
  CHECK(masked(3, 3, {1, 0, 0, 0, 1, 0, 0, 0, 1}).run("mask.polarity").status == Status::warn);
}

TEST_CASE("mask.polarity: a narrow window hides nearly everything and is right") {
  std::vector<int> hides(20 * 20, 1);
  for (std::size_t i = 0; i < 20; ++i) hides[i * 20 + i] = 0;
  const CheckResult result = masked(20, 20, hides).run("mask.polarity");
  CHECK(result.status == Status::pass);
  CHECK(*result.value == 0.95);
}

TEST_CASE("mask.polarity: a key mask that leaves one key in twelve warns") {
  std::vector<int> hides(12, 1);
  hides[0] = 0;
  const CheckResult result = masked(5, 12, hides).run("mask.polarity");
  CHECK(result.status == Status::warn);
  CHECK(contains(result.message, "hides 91.67 % of the keys"));
}

TEST_CASE("mask.polarity: a mask that hides nothing passes") {
  CHECK(masked(2, 2, {0, 0, 0, 0}).run("mask.polarity").status == Status::pass);
}

TEST_CASE("mask.polarity: an added mask with 0 and -inf exchanged fails") {
  Case<float> made;
  made.size(1, 1, 1, 2, 2, 2, 2);
  made.visibility.added = tensor<float, 4>({1, 1, 2, 2}, {-infinity, 0, -1e9, -infinity});
  const CheckResult result = made.run("mask.polarity");
  CHECK(result.status == Status::fail);
  CHECK(contains(result.hint, "exchanged"));
}

TEST_CASE("mask.polarity: key padding that hides every key fails, with its own flag") {
  Case<float> made;
  made.size(2, 1, 1, 3, 4, 2, 2);
  made.visibility.padded = Tensor<std::uint8_t, 2>::make({2, 4});
  for (auto& padded : made.visibility.padded.elements()) padded = 1;
  const CheckResult result = made.run("mask.polarity");
  CHECK(result.status == Status::fail);
  CHECK(contains(result.hint, "--padding-true hide"));
  made.visibility.padded(0, 0) = made.visibility.padded(1, 0) = 0;
  CHECK(made.run("mask.polarity").status == Status::pass);
}

TEST_CASE("mask.polarity: key padding where B = S has no diagonal") {
  Case<float> made;
  made.size(2, 1, 1, 3, 2, 2, 2);
  made.visibility.padded = Tensor<std::uint8_t, 2>::make({2, 2});
  made.visibility.padded(0, 0) = made.visibility.padded(1, 1) = 1;
  CHECK(made.run("mask.polarity").status == Status::pass);
}

TEST_CASE("mask.polarity: no mask is a skip") {
  CHECK(rich_case<float>().run("mask.polarity").status == Status::skip);
}

TEST_CASE("mask.polarity: padding found by the sum of a token hides a real one (R053)") {
  const auto with = [](const std::vector<int>& padded) {
    Case<double> made;
    made.size(1, 1, 1, 3, 3, 2, 2);
    made.evidence.eps = 1e-7;
    made.evidence.x = tensor<double, 3>({1, 3, 2}, {1, -1, 2, 1, 0, 0});
    made.visibility.padded = Tensor<std::uint8_t, 2>::make({1, 3});
    for (std::size_t n = 0; n < 3; ++n)
      made.visibility.padded.data()[n] = static_cast<std::uint8_t>(padded[n]);
    return made.run("mask.polarity");
  };
  const CheckResult by_sum = with({1, 0, 1});
  CHECK(by_sum.status == Status::warn);
  CHECK(contains(by_sum.message, "hides x[0], whose channels sum to 0 though they are not 0"));
  CHECK(by_sum.at == std::vector<std::size_t>{0});
  CHECK(with({0, 0, 1}).status == Status::pass);
  // Padding that some other token of sum 0 is not part of was not found so.
  CHECK(with({1, 0, 0}).status == Status::pass);
}

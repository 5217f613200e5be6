// Mistakes in masks that people published, cut down to tiny inputs: the verdict follows from the
// numbers of the reports, rounded to six decimals.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "reports.hpp"

using namespace qkv;
using namespace qkv::test;

namespace {

/// The fault named first for the weights of a report, "" for none.
std::string verdict(const Inputs& inputs, const Settings& settings, const Numbers& attn) {
  const std::size_t L = inputs.q->array.shape[0], S = inputs.k->array.shape[0];
  const Diagnosis found = diagnosis(inputs, settings, "attn", array_of({L, S}, attn));
  return found.faults.empty() ? "" : found.faults.front().id;
}

const double not_a_number = std::nan("");
const Settings causal{.causal = true};

}  // namespace

TEST_CASE("reports: a mask read the other way round, and a row that then sees no key (R021)") {
  Inputs inputs = three_queries();
  inputs.mask = keep({3, 3}, {0, 1, 1, 0, 0, 1, 0, 0, 0});
  const Settings hide{.mask_true = MaskTrue::hide};
  CHECK(verdict(inputs, hide,
                {0, 0.19557, 0.80443, 0, 0, 1, not_a_number, not_a_number, not_a_number}) ==
        "mask-inverted");
  CHECK(verdict(inputs, hide, {0, 0.19557, 0.80443, 0, 0, 1, 0, 0, 0}) == "mask-inverted");
  CHECK(verdict(inputs, hide, {1, 0, 0, 0.19557, 0.80443, 0, 0.283995, 0.575975, 0.140029}) == "");
}

TEST_CASE("reports: the same mask means the opposite in two operations of one library (R022)") {
  Inputs inputs = two_queries();
  inputs.mask = keep({3}, {1, 0, 1});
  CHECK(verdict(inputs, {}, {0, 1, 0, 0, 1, 0}) == "mask-inverted");
  CHECK(verdict(inputs, {}, {0.268941, 0, 0.731059, 0.731059, 0, 0.268941}) == "");
}

TEST_CASE("reports: a mask after the softmax, and one that is renormalised (R025, R026)") {
  Inputs inputs = two_queries();
  inputs.mask = keep({3}, {1, 1, 0});
  CHECK(verdict(inputs, {}, {0.186324, 0.307196, 0, 0.331499, 0.546549, 0}) ==
        "mask-after-softmax");
  CHECK(verdict(inputs, {}, {0.377541, 0.622459, 0, 0.377541, 0.622459, 0}) == "");
}

TEST_CASE("reports: a mask that was made and then dropped (R027)") {
  Inputs inputs = two_queries();
  inputs.mask = keep({3}, {1, 0, 1});
  CHECK(verdict(inputs, {}, {0.186324, 0.307196, 0.50648, 0.331499, 0.546549, 0.121952}) ==
        "mask-missing");
}

TEST_CASE("reports: the causal flag is lost on one path (R028)") {
  CHECK(verdict(three_queries(), causal,
                {0.445808, 0.108383, 0.445808, 0.17837, 0.733681, 0.087949, 0.283995, 0.575975,
                 0.140029}) == "causal-missing");
}

TEST_CASE("reports: a fill of 1e-9 in place of -1e9 is a score of 0 (R029)") {
  Inputs inputs = two_queries();
  inputs.mask = keep({3}, {1, 1, 0});
  const Diagnosis found =
      diagnosis(inputs, {}, "attn",
                array_of({2, 3}, {0.307196, 0.50648, 0.186324, 0.307196, 0.50648, 0.186324}));
  REQUIRE_FALSE(found.faults.empty());
  // Multiplying by the mask gives 0 too: the two are one in attn.
  CHECK(found.faults.front().id == "mask-multiplied");
  CHECK(found.faults.front().ties == std::vector<std::string>{"mask-fill-small"});
}

TEST_CASE("reports: a fill above real scores takes all the weight (R030)") {
  Inputs inputs;
  inputs.q = array_of({1, 1}, {1});
  inputs.k = array_of({3, 1}, {-200000, -200001, -200002});
  inputs.v = array_of({3, 1}, {1, 2, 3});
  inputs.mask = keep({3}, {1, 1, 0});
  // Of weights alone an inverted mask makes the same.
  const Diagnosis weights =
      diagnosis(inputs, {.scale = 1.0}, "attn", array_of({1, 3}, {0, 0, 1}), 0x1p-23);
  REQUIRE_FALSE(weights.faults.empty());
  CHECK(weights.faults.front().id == "mask-inverted");
  CHECK(std::ranges::find(weights.faults.front().ties, "mask-fill-small") !=
        weights.faults.front().ties.end());
  // In the masked scores the number shows.
  const Diagnosis found = diagnosis(inputs, {.scale = 1.0}, "masked",
                                    array_of({1, 3}, {-200000, -200001, -100000}), 0x1p-23);
  REQUIRE_FALSE(found.faults.empty());
  CHECK(found.faults.front().id == "mask-fill-small");
  CHECK(found.faults.front().message.find("-1e+05") != std::string::npos);
}

TEST_CASE("reports: an overflowed fill times 0 is NaN where keys are kept (R031)") {
  Inputs inputs;
  inputs.q = array_of({1, 1}, {1});
  inputs.k = array_of({2, 1}, {1, 2});
  inputs.v = array_of({2, 1}, {1, 2});
  inputs.mask = keep({2}, {1, 0});
  const Diagnosis found =
      diagnosis(inputs, {.scale = 1.0}, "masked", array_of({1, 2}, {not_a_number, -HUGE_VAL}));
  REQUIRE_FALSE(found.faults.empty());
  CHECK(found.faults.front().id == "mask-fill-overflow");
}

TEST_CASE("reports: what a row that sees no key gets is named (R034, R035, R036)") {
  Inputs inputs = two_queries();
  inputs.mask = keep({2, 3}, {1, 1, 0, 0, 0, 0});
  const auto with = [&](const Numbers& row) {
    Numbers attn = {0.377541, 0.622459, 0};
    attn.insert(attn.end(), row.begin(), row.end());
    return verdict(inputs, {}, attn);
  };
  CHECK(with({0, 0, 0}) == "");
  CHECK(with({not_a_number, not_a_number, not_a_number}) == "empty-rows-nan");
  CHECK(with({0.333333, 0.333333, 0.333333}) == "empty-rows-uniform");
  CHECK(with({0.331499, 0.546549, 0.121952}) == "empty-rows-unmasked");
}

TEST_CASE("reports: the alignment of the causal rule is named with its flag (R039, R042)") {
  const Numbers start = {1, 0, 0, 0.377541, 0.622459, 0},
                end = {0.377541, 0.622459, 0, 0.331499, 0.546549, 0.121952};
  const Settings from_end{.causal = true, .causal_align = CausalAlign::end};
  CHECK(verdict(two_queries(), causal, start) == "");
  CHECK(verdict(two_queries(), from_end, end) == "");
  const Diagnosis found = diagnosis(two_queries(), causal, "attn", array_of({2, 3}, end));
  REQUIRE_FALSE(found.faults.empty());
  const FoundFault& first = found.faults.front();
  // With one diagonal between them the two rules differ by one key.
  CHECK(first.id == "causal-one-ahead");
  CHECK(first.ties == std::vector<std::string>{"causal-align"});

  const Numbers square = {1, 0, 0, 0.19557, 0.80443, 0, 0.283995, 0.575975, 0.140029};
  for (const Settings& settings : {causal, from_end}) {
    CHECK(verdict(three_queries(), settings, square) == "");
    const auto blind = diagnosis(three_queries(), settings, "attn", array_of({3, 3}, square)).blind;
    CHECK(std::ranges::any_of(blind, [](const Blind& one) {
      return one.property == "L = S" && one.hides == std::vector<std::string>{"causal-align"};
    }));
  }
}

TEST_CASE("reports: more queries than keys, from the end, leave rows empty (R040)") {
  Inputs inputs;
  inputs.q = array_of({5, 1}, {1, 2, 3, 4, 5});
  inputs.k = array_of({2, 1}, {0, 0});
  inputs.v = array_of({2, 1}, {1, 2});
  CHECK(verdict(inputs, causal, {0, 0, 0, 0, 0, 0, 1, 0, 0.5, 0.5}) == "causal-align");
}

TEST_CASE("reports: the zero pattern decides, not the agreement of two dumps (R041)") {
  Inputs inputs;
  inputs.q = array_of({3, 1}, {1, 2, 3});
  inputs.k = array_of({5, 1}, {0, 0, 0, 0, 0});
  inputs.v = array_of({5, 1}, {1, 2, 3, 4, 5});
  const double third = 1.0 / 3;
  const Numbers end = {third, third, third, 0,   0,   0.25, 0.25, 0.25,
                       0.25,  0,     0.2,   0.2, 0.2, 0.2,  0.2};
  CHECK(verdict(inputs, causal, end) == "causal-align");
}

TEST_CASE("reports: a window of one key too many, and one that ends too early (R043, R044)") {
  Inputs inputs;
  inputs.q = array_of({5, 1}, {1, 1, 1, 1, 1});
  inputs.k = array_of({5, 1}, {0, 0, 0, 0, 0});
  inputs.v = array_of({5, 1}, {1, 2, 3, 4, 5});
  const double third = 1.0 / 3;
  const Numbers wide = {1, 0, 0,    0,    0,    0.5,  0.5, 0, 0,    0,    third, third, third,
                        0, 0, 0.25, 0.25, 0.25, 0.25, 0,   0, 0.25, 0.25, 0.25,  0.25};
  const Settings three{.causal = true, .window = Window{2, -1}};
  CHECK(verdict(inputs, three, wide) == "window-off-by-one");

  inputs.q = array_of({8, 1}, Numbers(8, 1));
  inputs.k = array_of({8, 1}, Numbers(8, 0));
  inputs.v = array_of({8, 1}, {1, 2, 3, 4, 5, 6, 7, 8});
  Numbers early(64, 0);
  for (std::size_t i = 0; i < 8; ++i) {
    const std::size_t first = i < 2 ? 0 : i - 2, last = std::min<std::size_t>(i + 1, 7);
    for (std::size_t j = first; j <= last; ++j)
      early[i * 8 + j] = 1.0 / static_cast<double>(last - first + 1);
  }
  CHECK(verdict(inputs, {.window = Window{2, 2}}, early) == "window-off-by-one");
}

TEST_CASE("reports: a padding that hides rows in place of columns (R045)") {
  Inputs inputs = three_queries();
  inputs.key_padding = keep({1, 3}, {1, 1, 0});
  inputs.q->array = reshaped(inputs.q->array, {1, 3, 2});
  inputs.k->array = reshaped(inputs.k->array, {1, 3, 2});
  inputs.v->array = reshaped(inputs.v->array, {1, 3, 3});
  const Diagnosis found = diagnosis(
      inputs, {}, "attn",
      array_of({1, 3, 3}, {0.445808, 0.108383, 0.445808, 0.17837, 0.733681, 0.087949, 0, 0, 0}));
  REQUIRE_FALSE(found.faults.empty());
  CHECK(found.faults.front().id == "padding-on-queries");
}

TEST_CASE("reports: each sample gets another sample's padding (R046)") {
  Inputs inputs;
  inputs.q = array_of({2, 2, 1, 1}, Numbers(4, 0));
  inputs.k = array_of({2, 2, 2, 1}, Numbers(8, 1));
  inputs.v = array_of({2, 2, 2, 1}, {1, 2, 3, 4, 5, 6, 7, 8});
  inputs.mask = keep({2, 1, 1, 2}, {1, 0, 1, 1});
  const Diagnosis found =
      diagnosis(inputs, {}, "attn", array_of({2, 2, 1, 2}, {1, 0, 0.5, 0.5, 1, 0, 0.5, 0.5}));
  REQUIRE_FALSE(found.faults.empty());
  // With B = H the tiles and the batch axis on the heads are the same mask.
  CHECK(found.faults.front().id == "mask-axis");
  CHECK(std::ranges::find(found.faults.front().ties, "mask-head-order") !=
        found.faults.front().ties.end());
}

TEST_CASE("reports: a batch axis that lands on the key/value heads (R047)") {
  Inputs inputs;
  inputs.q = array_of({2, 2, 1, 1}, Numbers(4, 0));
  inputs.k = array_of({2, 2, 2, 1}, Numbers(8, 1));
  inputs.v = array_of({2, 2, 2, 1}, {1, 2, 3, 4, 5, 6, 7, 8});
  inputs.mask = keep({2, 1, 1, 2}, {1, 0, 0, 1});
  const Diagnosis found =
      diagnosis(inputs, {}, "attn", array_of({2, 2, 1, 2}, {1, 0, 0, 1, 1, 0, 0, 1}));
  REQUIRE_FALSE(found.faults.empty());
  CHECK(found.faults.front().id == "mask-axis");
  CHECK(found.faults.front().message.find("B = H = 2") != std::string::npos);
}

TEST_CASE("reports: a triangle of ones and zeros is added as floats (R050, R051)") {
  CHECK(verdict(three_queries(), causal,
                {0.686192, 0.061371, 0.252436, 0.18887, 0.776871, 0.034259, 0.283995, 0.575975,
                 0.140029}) == "mask-bool-added");
  CHECK(verdict(three_queries(), causal,
                {0.228355, 0.150911, 0.620734, 0.154953, 0.637362, 0.207684, 0.283995, 0.575975,
                 0.140029}) == "mask-bool-added");
}

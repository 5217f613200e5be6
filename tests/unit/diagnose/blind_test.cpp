// Blind spots: for each property that hides mistakes an input that has it, and one that has not.
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "qkv/diagnose/diagnose.hpp"
#include "qkv/diagnose/fault.hpp"
#include "support/arrays.hpp"

using namespace qkv;
using namespace qkv::test;

namespace {

using Ids = std::set<std::string>;

/// Numbers that are all different, and different in each tensor.
NamedArray painted(const Shape& shape, double first) {
  std::vector<double> numbers(element_count(shape));
  for (double& number : numbers) number = (first += 0.75) < 8 ? first : first -= 13.25;
  return array_of(shape, numbers);
}

NamedArray keep(const Shape& shape, const std::vector<double>& numbers) {
  return array_of(shape, numbers, DType::boolean);
}

/// q, k and v by head.
Inputs by_head(std::size_t B, std::size_t H, std::size_t G, std::size_t L, std::size_t S,
               std::size_t D, std::size_t Dv) {
  Inputs inputs;
  inputs.q = painted({B, H, L, D}, 0.25);
  inputs.k = painted({B, G, S, D}, -1);
  inputs.v = painted({B, G, S, Dv}, 2.5);
  return inputs;
}

/// x with weights, one head: B = 2, L = 3, E = 4, D = Dv = 4.
Inputs from_x() {
  Inputs inputs;
  inputs.x = painted({2, 3, 4}, 0.25);
  inputs.wq = painted({4, 4}, -1);
  inputs.wk = painted({4, 4}, 2);
  inputs.wv = painted({4, 4}, -3);
  return inputs;
}

std::vector<Blind> spots(const Inputs& inputs, const Settings& settings = {},
                         const std::map<std::string, NamedArray>& got = {}) {
  return blind_spots(make_case(inputs, settings, got));
}

Ids hidden(const std::vector<Blind>& spots) {
  Ids ids;
  for (const Blind& spot : spots) ids.insert(spot.hides.begin(), spot.hides.end());
  return ids;
}

/// What this property hides; nothing where it is not listed.
Ids hidden_by(const std::vector<Blind>& spots, const std::string& property) {
  for (const Blind& spot : spots) {
    if (spot.property == property) return {spot.hides.begin(), spot.hides.end()};
  }
  return {};
}

bool includes(const Ids& ids, const Ids& some) { return std::ranges::includes(ids, some); }

const Ids of_scale = {"scale-missing", "scale-twice", "scale-inverted", "scale-d-not-root",
                      "scale-d-model", "scale-heads", "scale-other"};
const Ids of_rope = {"rope-missing", "rope-style", "rope-partial",
                     "rope-base",    "rope-twice", "rope-on-v"};

}  // namespace

TEST_CASE("blind: an input of different sizes hides nothing that it could show") {
  // Grouped heads, B, H, G, L, S, D and Dv all different, no option in use.
  CHECK(spots(by_head(3, 4, 2, 5, 7, 6, 8)).empty());
}

TEST_CASE("blind: every id is one of the list, each is listed once, and says what shows it") {
  Ids listed;
  for (const Fault& fault : fault_list()) listed.insert(std::string(fault.id));
  for (const Inputs& inputs :
       {from_x(), by_head(1, 1, 1, 1, 1, 1, 1), by_head(2, 2, 1, 3, 3, 2, 2)}) {
    Ids seen;
    for (const Blind& spot : spots(inputs, {.causal = true, .softcap = 2})) {
      CHECK_FALSE(spot.property.empty());
      CHECK_FALSE(spot.show_with.empty());
      CHECK_FALSE(spot.hides.empty());
      for (const std::string& id : spot.hides) {
        INFO(id);
        CHECK(listed.contains(id));
        CHECK(seen.insert(id).second);
      }
    }
  }
}

TEST_CASE("blind: one head hides how heads are split and merged, and 1/sqrt(H)") {
  const auto one = spots(from_x());
  CHECK(includes(hidden_by(one, "H = 1"), {"heads-not-split", "heads-viewed", "heads-merged-viewed",
                                           "heads-order", "heads-averaged", "scale-heads"}));
  CHECK_FALSE(hidden(one).contains("mask-head-order"));  // no mask, no tiles of it
  Inputs masked = by_head(2, 1, 1, 2, 3, 4, 5);
  masked.mask = keep({2, 3}, {1, 1, 0, 0, 1, 1});
  CHECK(hidden_by(spots(masked), "H = 1").contains("mask-head-order"));
  CHECK(hidden_by(spots(masked), "H = 1").contains("layout-blhd"));
  CHECK(hidden_by(spots(by_head(2, 3, 3, 2, 4, 5, 6)), "H = 1").empty());
}

TEST_CASE("blind: a batch of one hides the order of mask tiles, no batch axis the batch's place") {
  Inputs inputs = by_head(1, 3, 3, 2, 4, 5, 6);
  CHECK(hidden_by(spots(inputs), "B = 1").empty());
  inputs.mask = keep({2, 4}, {1, 1, 0, 0, 0, 1, 1, 0});
  CHECK(hidden_by(spots(inputs), "B = 1") == Ids{"mask-head-order"});
  Inputs flat;
  flat.q = painted({2, 4}, 0);
  flat.k = painted({3, 4}, 1);
  flat.v = painted({3, 5}, 2);
  CHECK(hidden_by(spots(flat), "no batch axis") == Ids{"batch-first"});
}

TEST_CASE("blind: with as many queries as keys both alignments of the causal rule are one") {
  CHECK(hidden_by(spots(by_head(2, 3, 3, 4, 4, 5, 6), {.causal = true}), "L = S") ==
        Ids{"causal-align"});
  CHECK(hidden_by(spots(by_head(2, 3, 3, 4, 6, 5, 7), {.causal = true}), "L = S").empty());
  Inputs lengths = by_head(2, 3, 3, 4, 4, 5, 6);
  lengths.lengths = array_of({2}, {3, 4}, DType::int64);
  CHECK(hidden_by(spots(lengths, {.causal = true}), "L = S").empty());
  // A cache shows whether it is counted.
  Inputs cached = by_head(2, 3, 3, 4, 4, 5, 6);
  cached.past_k = painted({2, 3, 2, 5}, 3);
  cached.past_v = painted({2, 3, 2, 6}, 4);
  CHECK_FALSE(hidden(spots(cached, {.causal = true})).contains("causal-align"));
}

TEST_CASE("blind: symmetric weights hide a transpose") {
  Inputs inputs = from_x();
  CHECK_FALSE(hidden(spots(inputs)).contains("weight-transposed"));
  const std::vector<double> symmetric = {1, 2, 3, 4, 2, 5, 6, 7, 3, 6, 8, 9, 4, 7, 9, 1};
  inputs.wq = inputs.wk = inputs.wv = array_of({4, 4}, symmetric);
  CHECK(hidden(spots(inputs)).contains("weight-transposed"));
  CHECK(hidden_by(spots(inputs), "wq, wk and wv are equal") == Ids{"qkv-shared"});
  inputs.wo = array_of({4, 4}, {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1});
  CHECK(hidden_by(spots(inputs), "wo is the identity") == Ids{"out-proj-missing"});
  CHECK(hidden_by(spots(inputs), "wo is symmetric") == Ids{"out-proj-transposed"});
}

TEST_CASE("blind: positions of 0 hide every rotation, a single pair its style and base") {
  const Settings rope{.rope_base = 10000};
  CHECK(hidden_by(spots(by_head(2, 3, 3, 1, 1, 4, 5), rope), "all positions are 0") == of_rope);
  const auto rotated = spots(by_head(2, 3, 3, 5, 5, 4, 6), rope);
  CHECK_FALSE(hidden(rotated).contains("rope-missing"));
  CHECK(hidden(rotated).contains("rope-offset"));  // queries and keys shift together
  const auto with_q_rope =
      spots(by_head(2, 3, 3, 5, 5, 4, 6), rope, {{"q_rope", painted({2, 3, 5, 4}, 0)}});
  CHECK_FALSE(hidden(with_q_rope).contains("rope-offset"));
  const Settings one_pair{.rope_base = 10000, .rope_dim = 2};
  CHECK(hidden_by(spots(by_head(2, 3, 3, 5, 5, 4, 6), one_pair), "only one pair rotates") ==
        Ids{"rope-style", "rope-base"});
  CHECK_FALSE(hidden(spots(by_head(2, 3, 3, 5, 5, 4, 6))).contains("rope-offset"));  // no rotation
}

TEST_CASE("blind: one key/value head hides in which order heads share them") {
  CHECK(hidden_by(spots(by_head(3, 4, 1, 5, 7, 6, 8)), "G = 1") == Ids{"gqa-tiled"});
  CHECK_FALSE(hidden(spots(by_head(3, 4, 2, 5, 7, 6, 8))).contains("gqa-tiled"));
}

TEST_CASE("blind: biases of 0, and a bias of the keys alone") {
  Inputs inputs = from_x();
  CHECK_FALSE(hidden(spots(inputs)).contains("bias-missing"));  // there is none to miss
  inputs.bq = inputs.bk = inputs.bv = array_of({4}, {0, 0, 0, 0});
  CHECK(hidden_by(spots(inputs), "every bias is 0") == Ids{"bias-missing", "bias-swapped"});
  inputs.bk = array_of({4}, {1, 2, 3, 4});
  CHECK(hidden(spots(inputs)).contains("bias-missing"));
  CHECK_FALSE(
      hidden(spots(inputs, {}, {{"scores", painted({2, 3, 3}, 0)}})).contains("bias-missing"));
  CHECK_FALSE(hidden(spots(inputs, {.rope_base = 10000})).contains("bias-missing"));
  inputs.bv = array_of({4}, {1, 2, 3, 4});
  CHECK_FALSE(hidden(spots(inputs)).contains("bias-missing"));
}

TEST_CASE("blind: a mask that keeps every key hides all about masks but polarity") {
  Inputs inputs = by_head(2, 3, 3, 4, 5, 6, 7);
  inputs.mask = keep({4, 5}, std::vector<double>(20, 1));
  const auto all = spots(inputs);
  CHECK(includes(hidden(all),
                 {"mask-missing", "mask-transposed", "mask-axis", "mask-head-order",
                  "mask-after-softmax", "mask-multiplied", "mask-bool-added", "mask-fill-small"}));
  CHECK_FALSE(hidden(all).contains("mask-inverted"));
  CHECK_FALSE(hidden(all).contains("mask-fill-overflow"));
  std::vector<double> some(20, 1);
  some[3] = some[8] = 0;
  inputs.mask = keep({4, 5}, some);
  const auto fewer = spots(inputs);
  CHECK_FALSE(hidden(fewer).contains("mask-missing"));
  CHECK_FALSE(hidden(fewer).contains("mask-multiplied"));
  CHECK(hidden(fewer).contains("mask-head-order"));  // one mask for all samples and heads
}

TEST_CASE("blind: a symmetric mask hides its transpose") {
  Inputs inputs = by_head(2, 3, 3, 3, 3, 4, 5);
  inputs.mask = keep({3, 3}, {1, 0, 1, 0, 1, 1, 1, 1, 1});
  CHECK(hidden_by(spots(inputs), "the mask is symmetric") == Ids{"mask-transposed"});
  inputs.mask = keep({3, 3}, {1, 0, 0, 1, 1, 0, 1, 1, 1});
  CHECK_FALSE(hidden(spots(inputs)).contains("mask-transposed"));
}

TEST_CASE("blind: without a query that sees no key nobody knows what it would get") {
  Inputs inputs = by_head(2, 3, 3, 2, 3, 4, 5);
  inputs.mask = keep({2, 3}, {1, 1, 0, 0, 1, 1});
  CHECK(hidden_by(spots(inputs), "every query sees a key") ==
        Ids{"empty-rows-uniform", "empty-rows-nan", "empty-rows-unmasked"});
  inputs.mask = keep({2, 3}, {1, 1, 0, 0, 0, 0});
  CHECK(hidden_by(spots(inputs), "every query sees a key").empty());
}

TEST_CASE("blind: a single query under the causal rule, and a window wider than the sequence") {
  const auto one = spots(by_head(2, 3, 3, 1, 1, 4, 5), {.causal = true});
  CHECK(includes(hidden(one), {"causal-missing", "causal-one-ahead"}));
  CHECK_FALSE(hidden(one).contains("causal-strict"));
  const auto wide = spots(by_head(2, 3, 3, 4, 4, 5, 6), {.window = Window{9, 9}});
  CHECK(hidden(wide).contains("window-off-by-one"));
  const auto narrow = spots(by_head(2, 3, 3, 4, 4, 5, 6), {.window = Window{1, 1}});
  CHECK_FALSE(hidden(narrow).contains("window-off-by-one"));
}

TEST_CASE("blind: one key, equal keys and queries of 0 hide everything about scores") {
  CHECK(includes(hidden_by(spots(by_head(2, 3, 3, 4, 1, 5, 6)), "S = 1"), of_scale));
  Inputs equal = by_head(1, 1, 1, 2, 3, 4, 5);
  equal.k = array_of({1, 1, 3, 4}, {1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4});
  CHECK(hidden_by(spots(equal), "all keys are the same vector").contains("scale-missing"));
  const NamedArray scaled = painted({1, 1, 2, 3}, 0);
  CHECK_FALSE(hidden(spots(equal, {}, {{"scaled", scaled}})).contains("scale-missing"));
  Inputs zero = by_head(1, 1, 1, 2, 3, 4, 5);
  zero.q = array_of({1, 1, 2, 4}, std::vector<double>(8, 0));
  CHECK(hidden_by(spots(zero), "q is 0").contains("scale-missing"));
}

TEST_CASE("blind: scales that are one number are one") {
  CHECK(includes(hidden_by(spots(by_head(2, 3, 3, 4, 5, 1, 6)), "D = 1"),
                 {"scale-missing", "scale-twice", "scale-inverted", "scale-d-not-root"}));
  CHECK(hidden_by(spots(by_head(2, 3, 3, 4, 5, 3, 6)), "H = D") == Ids{"scale-heads"});
  CHECK(hidden_by(spots(by_head(2, 3, 3, 4, 5, 4, 6), {.scale = 1.0}), "the scale is 1")
            .contains("scale-missing"));
  CHECK(hidden_by(spots(from_x()), "E = D") == Ids{"scale-d-model"});
}

TEST_CASE("blind: roles that hold the same tensor cannot be told apart") {
  Inputs inputs = by_head(2, 3, 3, 4, 4, 5, 5);
  inputs.k = inputs.q;
  CHECK(hidden_by(spots(inputs), "q equals k") == Ids{"qk-swapped"});
  inputs.v = inputs.k;
  CHECK(hidden_by(spots(inputs), "k equals v") == Ids{"kv-swapped"});
}

TEST_CASE("blind: equal values hide the weights from out, but not from attn") {
  Inputs inputs = by_head(1, 1, 1, 2, 3, 4, 2);
  inputs.v = array_of({1, 1, 3, 2}, {1, 2, 1, 2, 1, 2});
  const NamedArray out = painted({1, 1, 2, 2}, 0), attn = painted({1, 1, 2, 3}, 0);
  CHECK(includes(hidden(spots(inputs, {}, {{"out", out}})), {"softmax-twice", "scale-missing"}));
  CHECK_FALSE(hidden(spots(inputs, {}, {{"attn", attn}})).contains("softmax-twice"));
}

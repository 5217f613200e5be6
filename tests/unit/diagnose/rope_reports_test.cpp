// Mistakes in the rotary embedding that people published, and rotations that only look wrong: the
// verdict follows from the numbers of the reports, rounded to six decimals.
#include <catch2/catch.hpp>

#include "reports.hpp"

using namespace qkv;
using namespace qkv::test;

namespace {

/// q, k and v are `rows`.
Inputs rows_of(const Shape& shape, const Numbers& rows) {
  Inputs inputs;
  inputs.q = inputs.k = inputs.v = array_of(shape, rows);
  return inputs;
}

/// Two tokens 1, 2, 3, 4 at positions 0 and 1.
const Inputs two_equal = rows_of({2, 4}, {1, 2, 3, 4, 1, 2, 3, 4});
const Numbers by_halves = {1, 2, 3, 4, -1.984111, 1.959901, 2.462378, 4.0198},
              by_neighbours = {1, 2, 3, 4, -1.14264, 1.922076, 2.959851, 4.0298};
const Settings half{.rope_base = 10000},
    interleaved{.rope_base = 10000, .rope_style = RopeStyle::interleaved};

Diagnosis of_rotated(const Inputs& inputs, const Settings& settings, const Shape& shape,
                     const Numbers& rotated) {
  const NamedArray both = array_of(shape, rotated);
  return diagnosis(inputs, settings, {{"q_rope", both}, {"k_rope", both}}, 1e-6);
}

/// One token 1 to 8 at position 1, of which four channels rotate.
Diagnosis of_partial(const Numbers& rotated) {
  const Inputs inputs = rows_of({1, 8}, {1, 2, 3, 4, 5, 6, 7, 8});
  return of_rotated(inputs, {.rope_base = 10000, .rope_dim = 4, .first_position = 1}, {1, 8},
                    rotated);
}

/// cos p, 0, sin p, 0: the row 1, 0, 0, 0 at position p, pairs by halves.
Numbers at_position(double p) { return {std::cos(p), 0, std::sin(p), 0}; }

Numbers at_positions(const Numbers& positions) {
  Numbers rows;
  for (const double p : positions) {
    const Numbers row = at_position(p);
    rows.insert(rows.end(), row.begin(), row.end());
  }
  return rows;
}

const Numbers three_ones = {1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0};

}  // namespace

TEST_CASE("reports: channels rotated in the other pairs (R074)") {
  CHECK(near(computed(two_equal, half, "q_rope"), by_halves));
  CHECK(near(computed(two_equal, interleaved, "q_rope"), by_neighbours));
  CHECK(first(of_rotated(two_equal, half, {2, 4}, by_neighbours)) == "rope-style");
  CHECK(first(of_rotated(two_equal, interleaved, {2, 4}, by_halves)) == "rope-style");
  CHECK(first(of_rotated(two_equal, half, {2, 4}, by_halves)) == "");

  const Inputs one = rows_of({1, 4}, {1, 2, 3, 4});
  const Diagnosis at_zero = of_rotated(one, half, {1, 4}, {1, 2, 3, 4});
  CHECK(first(at_zero) == "");
  CHECK(blind(at_zero, "all positions are 0", "rope-style"));
}

TEST_CASE("reports: half pairs of permuted channels are neighbouring pairs (R075)") {
  // channels 0, 2, 1, 3 of the tokens, rotated by halves
  const Inputs permuted = rows_of({2, 4}, {1, 3, 2, 4, 1, 3, 2, 4});
  CHECK(
      near(computed(permuted, half, "q_rope"), {1, 3, 2, 4, -1.14264, 2.959851, 1.922076, 4.0298}));
  const Numbers scores = computed(permuted, half, "scores");
  CHECK(near(scores, computed(two_equal, interleaved, "scores")));
  CHECK(first(diagnosis(two_equal, interleaved, "scores", array_of({2, 2}, scores), 1e-6)) == "");

  const NamedArray rows = array_of({2, 4}, {1, 3, 2, 4, 1, 3, 2, 4});
  const Diagnosis seen =
      diagnosis(two_equal, interleaved,
                {{"q", rows}, {"k", rows}, {"scores", array_of({2, 2}, scores)}}, 1e-6);
  CHECK(first(seen) == "rope-style");
  CHECK(says(seen, "gives the same scores"));
}

TEST_CASE("reports: a new query is rotated as if there were no cache (R076)") {
  Inputs inputs = rows_of({1, 1, 1, 4}, {1, 0, 0, 0});
  inputs.past_k = array_of({1, 1, 2, 4}, at_positions({0, 1}));
  inputs.past_v = array_of({1, 1, 2, 4}, Numbers(8, 1));
  CHECK(near(computed(inputs, half, "scaled"), {-0.208073, 0.270151, 0.5}));
  const auto of_scores = [&](const Numbers& scaled) {
    return diagnosis(inputs, half, "scaled", array_of({1, 1, 1, 3}, scaled), 1e-5);
  };
  const Diagnosis wrong = of_scores({0.5, 0.270151, -0.208073});
  CHECK(first(wrong) == "rope-offset");
  CHECK(says(wrong, "q start at 0, not at 2"));
  CHECK(wrong.faults.front().ties == Words{"rope-missing"});  // position 0 rotates nothing
  CHECK(first(of_scores({-0.208073, 0.270151, 0.5})) == "");
}

TEST_CASE("reports: one row of positions for all rows of a left-padded batch (R077)") {
  Inputs inputs = rows_of({2, 3, 4}, {1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0,  //
                                      1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0});
  inputs.key_padding = keep({2, 3}, {0, 1, 1, 1, 1, 1});
  inputs.position = array_of({2, 3}, {-1, 0, 1, 0, 1, 2}, DType::int64, "position.npy");
  const Numbers right = at_positions({-1, 0, 1, 0, 1, 2}),
                shared = at_positions({0, 1, 2, 0, 1, 2});
  CHECK(near(computed(inputs, half, "q_rope"), right));
  const Diagnosis wrong = of_rotated(inputs, half, {2, 3, 4}, shared);
  CHECK(first(wrong) == "rope-offset");
  CHECK(says(wrong, "position.npy"));
  CHECK(first(of_rotated(inputs, half, {2, 3, 4}, right)) == "");
  // A shift of a whole row cancels in its scores.
  Inputs counted = inputs;
  counted.position.reset();
  const NamedArray scores = array_of({2, 3, 3}, computed(counted, half, "scores"));
  CHECK(first(diagnosis(inputs, half, "scores", scores)) == "");
}

TEST_CASE("reports: positions that are all shifted alike cancel in the scores (R078)") {
  const Inputs inputs = rows_of({3, 4}, three_ones);
  Settings negative = half;
  negative.first_position = -3;
  const Numbers from_zero = computed(inputs, half, "scaled"),
                from_minus_three = computed(inputs, negative, "scaled");
  const Numbers last = {-0.208073, 0.270151, 0.5};
  CHECK(near({from_zero.begin() + 6, from_zero.end()}, last));
  CHECK(near({from_minus_three.begin() + 6, from_minus_three.end()}, last));
  const Diagnosis of_scores =
      diagnosis(inputs, half, "scaled", array_of({3, 3}, from_minus_three), 1e-6);
  CHECK(first(of_scores) == "");
  CHECK(
      blind(of_scores, "queries and keys shift together, and q_rope is not given", "rope-offset"));
  const Diagnosis of_rows = of_rotated(inputs, half, {3, 4}, at_positions({-3, -2, -1}));
  CHECK(first(of_rows) == "rope-offset");
  CHECK(says(of_rows, "start at -3, not at 0"));
}

TEST_CASE("reports: the index of the head is taken for the position (R079)") {
  const Inputs inputs = rows_of({1, 2, 2, 2}, {1, 0, 1, 0, 1, 0, 1, 0});
  const double c = 0.540302, s = 0.841471;
  CHECK(near(computed(inputs, half, "q_rope"), {1, 0, c, s, 1, 0, c, s}));
  const Diagnosis wrong = of_rotated(inputs, half, {1, 2, 2, 2}, {1, 0, 1, 0, c, s, c, s});
  CHECK(first(wrong) == "rope-axis");
  CHECK(says(wrong, "index of the head"));
}

TEST_CASE("reports: only the first head is rotated (R080)") {
  const Inputs inputs = rows_of({1, 2, 1, 2}, {1, 0, 1, 0});
  Settings at_one = half;
  at_one.first_position = 1;
  const double c = 0.540302, s = 0.841471;
  CHECK(near(computed(inputs, at_one, "q_rope"), {c, s, c, s}));
  const Diagnosis wrong = of_rotated(inputs, at_one, {1, 2, 1, 2}, {c, s, 1, 0});
  CHECK(first(wrong) == "rope-axis");
  CHECK(says(wrong, "only head 0"));
}

TEST_CASE("reports: pairs and frequencies from the head's width, not from what rotates (R081)") {
  const Diagnosis wrong = of_partial({-3.667053, 1.391008, 3, 4, 3.542983, 6.169692, 7, 8});
  CHECK(first(wrong) == "rope-partial");
  CHECK(says(wrong, "pairs and frequencies are those of the head's width 8"));
  CHECK(first(of_partial({-1.984111, 1.959901, 2.462378, 4.0198, 5, 6, 7, 8})) == "");
}

TEST_CASE("reports: the whole head is rotated (R082)") {
  const Diagnosis wrong =
      of_partial({-3.667053, 1.391008, 2.929851, 3.991998, 3.542983, 6.169692, 7.02965, 8.003996});
  CHECK(first(wrong) == "rope-partial");
  CHECK(says(wrong, "rotate 8 channels, not 4"));
}

// Mistakes in cutting and joining heads that people published, and cuts that only look wrong: the
// verdict follows from the numbers of the reports.
#include <catch2/catch.hpp>

#include "reports.hpp"

using namespace qkv;
using namespace qkv::test;

namespace {

/// L = S = H = 2, Dv = 2, and a mask by which each query sees the key at its own place: the heads
/// are those of v.
Inputs own_values() {
  Inputs inputs;
  inputs.q = array_of({2, 2}, {1, 2, 3, 4});
  inputs.k = array_of({2, 2}, {5, 6, 7, 9});
  inputs.v = array_of({2, 4}, {1, 2, 5, 6, 3, 4, 7, 8});
  inputs.mask = keep({2, 2}, {1, 0, 0, 1});
  return inputs;
}
const NamedArray own_heads = array_of({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});

/// One token, H query heads, and values that tell the G heads apart.
Inputs grouped(std::size_t H, const Numbers& values) {
  const std::size_t G = values.size();
  Inputs inputs;
  inputs.q = array_of({1, H, 1, 1}, Numbers(H, 1));
  inputs.k = array_of({1, G, 1, 1}, Numbers(G, 1));
  inputs.v = array_of({1, G, 1, 1}, values);
  return inputs;
}

Diagnosis of_grouped(std::size_t H, const Numbers& values, const Numbers& out) {
  return diagnosis(grouped(H, values), {}, "out", array_of({1, H, 1, 1}, out));
}

}  // namespace

TEST_CASE("reports: heads cut by a view in place of a transpose (R063, R064)") {
  const Numbers right = {1, 0, 0, 1, 2, 1, 0, 2, 1, 0, 0, 0};
  CHECK(computed(two_heads(), heads_2, "q") == right);
  CHECK(near(computed(two_heads(), heads_2, "out"),
             {1.435946, 0.716005, 0.052857, 1.78857, 1, 0.802224, 0.50349, 0.49651, 1.798059,
              0.898325, 0.333333, 0.666667}));
  const auto of_q = [](const Numbers& q) {
    return diagnosis(two_heads(), heads_2, "q", array_of({2, 3, 2}, q));
  };
  CHECK(first(of_q({1, 0, 0, 2, 0, 1, 1, 0, 2, 1, 0, 0})) == "heads-viewed");
  CHECK(first(of_q(right)) == "");
}

TEST_CASE("reports: heads merged by a view, whichever side is called the reference (R065, R066)") {
  const auto of_concat = [](const Numbers& concat) {
    return diagnosis(own_values(), {.heads = 2},
                     {{"heads", own_heads}, {"concat", array_of({2, 4}, concat)}});
  };
  CHECK(computed(own_values(), {.heads = 2}, "concat") == Numbers{1, 2, 5, 6, 3, 4, 7, 8});
  CHECK(found(of_concat({1, 2, 3, 4, 5, 6, 7, 8})) == Words{"heads-merged-viewed"});
  CHECK(found(of_concat({1, 2, 5, 6, 3, 4, 7, 8})).empty());
}

TEST_CASE("reports: one head hides how heads are cut and merged (R067)") {
  const Diagnosis one = diagnosis(two_queries(), {}, "out", array_of({2, 2}, two_queries_out));
  CHECK(found(one).empty());
  for (const char* id : {"heads-not-split", "heads-viewed", "heads-merged-viewed", "heads-order"})
    CHECK(blind(one, "H = 1", id));
}

TEST_CASE("reports: key/value heads tiled in place of repeated (R068)") {
  CHECK(computed(grouped(4, {10, 20}), {}, "out") == Numbers{10, 10, 20, 20});
  CHECK(first(of_grouped(4, {10, 20}, {10, 20, 10, 20})) == "gqa-tiled");
  CHECK(first(of_grouped(4, {10, 20}, {10, 10, 20, 20})) == "");
  CHECK(blind(of_grouped(4, {10}, {10, 10, 10, 10}), "G = 1", "gqa-tiled"));
}

TEST_CASE("reports: the key/value head of a query head is h / (H/G), not h / G (R069)") {
  CHECK(computed(grouped(6, {1, 2, 3}), {}, "out") == Numbers{1, 1, 2, 2, 3, 3});
  const Diagnosis wrong = of_grouped(6, {1, 2, 3}, {1, 1, 1, 2, 2, 2});
  CHECK(first(wrong) == "gqa-tiled");
  CHECK(says(wrong, "h / 3"));
}

TEST_CASE("reports: keys repeated along the positions leave values behind (R070)") {
  const Settings blhd{.layout = Layout::blhd};
  Inputs inputs;
  inputs.q = array_of({1, 1, 2, 1}, {1, 1});
  inputs.k = array_of({1, 2, 2, 1}, {1, 1, 2, 2});
  inputs.v = array_of({1, 2, 2, 1}, {1, 2, 3, 4});
  CHECK(refusal(inputs, blhd) == "");
  inputs.k = array_of({1, 4, 1, 1}, {1, 1, 2, 2}, DType::float64, "k.npy");
  inputs.v = array_of({1, 2, 1, 1}, {1, 2}, DType::float64, "v.npy");
  const std::string refused = refusal(inputs, blhd);
  INFO(refused);
  CHECK(refused.find("expected 4 as in k.npy (1,4,1,1), got 2 in (1,2,1,1)") != std::string::npos);
  CHECK(refused.find("repeated along axis 1") != std::string::npos);
}

TEST_CASE("reports: the weights that are returned are the mean over the heads (R071)") {
  Inputs inputs;
  inputs.q = array_of({2, 1, 1}, {1, 1});
  inputs.k = array_of({2, 2, 1}, {std::log(9), 0, 0, std::log(4)});
  inputs.v = array_of({2, 2, 1}, {1, 2, 10, 20});
  for (auto* tensor : {&inputs.q, &inputs.k, &inputs.v}) {
    const Shape& shape = (*tensor)->array.shape;
    (*tensor)->array = reshaped((*tensor)->array, {1, shape[0], shape[1], shape[2]});
  }
  CHECK(near(computed(inputs, {}, "attn"), {0.9, 0.1, 0.2, 0.8}));
  const NamedArray mean = array_of({1, 2}, {0.55, 0.45}), out = array_of({1, 2, 1, 1}, {1.1, 18});
  const Diagnosis wrong = diagnosis(inputs, {}, {{"attn", mean}, {"out", out}});
  CHECK(found(wrong) == Words{"heads-averaged"});
  CHECK(says(wrong, "the mean over the 2 heads"));
}

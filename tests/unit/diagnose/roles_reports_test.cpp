// Tensors in each other's roles and axes in each other's places, as people published them, and
// shapes that cannot be: the verdict follows from the numbers of the reports.
#include <catch2/catch.hpp>

#include "reports.hpp"

using namespace qkv;
using namespace qkv::test;

namespace {

Inputs of_shapes(const Shape& q, const Shape& k, const Shape& v) {
  const auto counted = [](const Shape& shape, const std::string& where) {
    Numbers numbers(element_count(shape));
    for (std::size_t n = 0; n < numbers.size(); ++n) numbers[n] = static_cast<double>(n % 7);
    return array_of(shape, numbers, DType::float64, where);
  };
  Inputs inputs;
  inputs.q = counted(q, "q.npy");
  inputs.k = counted(k, "k.npy");
  inputs.v = counted(v, "v.npy");
  return inputs;
}

}  // namespace

TEST_CASE("reports: queries and keys exchanged, which may be meant (R072)") {
  const auto of_attn = [](const Numbers& attn) {
    return diagnosis(three_queries(), {}, "attn", array_of({3, 3}, attn));
  };
  const Diagnosis exchanged = of_attn(
      {0.575975, 0.140029, 0.283995, 0.108383, 0.445808, 0.445808, 0.733681, 0.087949, 0.17837});
  CHECK(first(exchanged) == "qk-swapped");
  CHECK_FALSE(names(exchanged, "softmax-axis"));
  // transposed, that is the softmax over the other axis, which is another tensor
  const Diagnosis transposed = of_attn(
      {0.575975, 0.108383, 0.733681, 0.140029, 0.445808, 0.087949, 0.283995, 0.445808, 0.17837});
  CHECK(first(transposed) == "softmax-axis");
  CHECK_FALSE(names(transposed, "qk-swapped"));
}

TEST_CASE("reports: the weighted sum along the queries (R073)") {
  const Diagnosis wrong =
      diagnosis(three_queries(), {}, "out",
                array_of({3, 3}, {0.445808, 0.17837, 0.283995, 0.108383, 0.733681, 0.575975,
                                  0.445808, 0.087949, 0.140029}));
  CHECK(first(wrong) == "attn-transposed");
  CHECK(first(diagnosis(three_queries(), {}, "out", array_of({3, 3}, three_queries_attn))) == "");
}

TEST_CASE("reports: batch entries that see each other (R085)") {
  Inputs inputs;
  inputs.q = inputs.k = inputs.v = array_of({2, 2, 2}, {1, 0, 0, 1, 2, 0, 0, 2});
  CHECK(near(computed(inputs, {}, "out"), {0.669762, 0.330238, 0.330238, 0.669762,  //
                                           1.888386, 0.111614, 0.111614, 1.888386}));
  const Diagnosis wrong = diagnosis(
      inputs, {}, "out", array_of({2, 2, 2}, {1.669762, 0, 0, 1.669762, 1.80443, 0, 0, 1.80443}));
  CHECK(first(wrong) == "batch-first");

  // In a batch of one every position is then its own output.
  inputs.q = inputs.k = inputs.v = array_of({1, 2, 2}, {1, 0, 0, 1});
  CHECK(names(diagnosis(inputs, {}, "out", array_of({1, 2, 2}, {1, 0, 0, 1})), "batch-first"));
}

TEST_CASE("reports: heads as wide as the whole model are worth a note (R086)") {
  const auto notes = [](std::size_t D, std::size_t heads) {
    Inputs inputs;
    inputs.x = array_of({1, 4}, {1, 2, 3, 4});
    const NamedArray weight = array_of({4, heads * D}, Numbers(4 * heads * D, 1));
    inputs.wq = inputs.wk = inputs.wv = weight;
    inputs.wq->where = "wq.npy";
    std::string all;
    for (const std::string& note :
         make_problem<double>(inputs, {.heads = heads, .weight_order = WeightOrder::in_out}).notes)
      all += note + "\n";
    return all;
  };
  CHECK(notes(4, 2).find("wq.npy makes H·D = 8 channels of E = 4") != std::string::npos);
  CHECK(notes(2, 2) == "");
  CHECK(notes(4, 1) == "");
}

TEST_CASE("reports: keys with all their axes reversed (R087)") {
  const std::string refused = refusal(of_shapes({2, 3, 4}, {4, 3, 2}, {2, 3, 4}), {});
  INFO(refused);
  CHECK(refused.find("k.npy") != std::string::npos);
  CHECK(refused.find("(4,3,2)") != std::string::npos);
  CHECK(refused.find("q.npy (2,3,4)") != std::string::npos);
  CHECK(refused.find("all axes of k.npy look reversed") != std::string::npos);
}

TEST_CASE("reports: more values than keys (R088)") {
  const std::string refused = refusal(of_shapes({1, 1, 3, 8}, {1, 1, 5, 8}, {1, 1, 6, 8}), {});
  INFO(refused);
  CHECK(refused.find("expected 5 as in k.npy (1,1,5,8), got 6 in (1,1,6,8)") != std::string::npos);
}

TEST_CASE("reports: values of another width than the keys are right (R089)") {
  CHECK(refusal(two_queries(), {}) == "");
  CHECK(near(computed(two_queries(), {}, "out"), two_queries_out));
}

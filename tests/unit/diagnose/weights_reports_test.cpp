// Mistakes in weights, biases and fused projections that people published: the verdict follows from
// the numbers of the reports, rounded to six decimals.
#include <catch2/catch.hpp>

#include "reports.hpp"

using namespace qkv;
using namespace qkv::test;

namespace {

const Settings in_out{.weight_order = WeightOrder::in_out};

/// L = S = 2, E = D = Dv = 2, three different weights.
Inputs two_tokens() {
  Inputs inputs;
  inputs.x = array_of({2, 2}, {1, 2, 3, 1});
  inputs.wq = identity(2, "wq.npy");
  inputs.wk = array_of({2, 2}, {0, 1, 1, 0});
  inputs.wv = array_of({2, 2}, {2, 0, 0, 3});
  return inputs;
}

/// One token whose fused projection is 1, 2, 3 ...
Inputs fused_row(std::size_t width) {
  Numbers row;
  for (std::size_t n = 1; n <= width; ++n) row.push_back(static_cast<double>(n));
  Inputs inputs;
  inputs.x = array_of({1, 1}, {1});
  inputs.wqkv = array_of({1, width}, row);
  return inputs;
}

/// The inputs of two_queries() as projections of themselves, and a bias on the keys.
Inputs key_bias() {
  const Inputs given = two_queries();
  Inputs inputs;
  inputs.x = given.q;
  inputs.context = given.k;
  inputs.wq = identity(4, "wq.npy");
  inputs.wk = identity(4, "wk.npy");
  // rows a, b, c, d with a + b = (1,0), 2b + c = (0,1), a + c + d = (2,2): k·wv is v
  inputs.wv = array_of({4, 2}, {1, 0, 0, 0, 0, 1, 1, 1});
  inputs.bk = array_of({4}, {1, 2, 3, 4});
  return inputs;
}

}  // namespace

TEST_CASE("reports: a weight stored (out,in) and used as (in,out) (R054)") {
  Inputs inputs;
  inputs.x = array_of({3, 2}, {1, 0, 0, 1, 1, 1});
  inputs.wq = array_of({2, 2}, {1, 2, 0, 1});
  inputs.wk = array_of({2, 2}, {1, 3, 2, 1});
  inputs.wv = array_of({2, 2}, {2, 1, 0, 1});
  const Settings out_in{.weight_order = WeightOrder::out_in};
  CHECK(near(computed(inputs, out_in, "q"), {1, 0, 2, 1, 3, 1}));
  const auto with = [&](const Numbers& q) {
    return diagnosis(inputs, out_in, "q", array_of({3, 2}, q));
  };
  CHECK(first(with({1, 2, 0, 1, 1, 3})) == "weight-transposed");
  CHECK(says(with({1, 2, 0, 1, 1, 3}), "wq"));
  CHECK(first(with({1, 0, 2, 1, 3, 1})) == "");

  for (auto* weight : {&inputs.wq, &inputs.wk, &inputs.wv})
    *weight = array_of({2, 2}, {1, 2, 2, 1});
  const Diagnosis hidden = with({1, 2, 2, 1, 3, 3});
  CHECK(first(hidden) == "");
  CHECK(blind(hidden, "square weights are symmetric", "weight-transposed"));
}

TEST_CASE("reports: values made with the weight of the keys (R055)") {
  const Inputs inputs = two_tokens();
  CHECK(near(computed(inputs, in_out, "v"), {2, 6, 6, 3}));
  CHECK(near(computed(inputs, in_out, "out"), {5.571833, 3.321125, 3.320954, 5.009285}));
  const NamedArray v = array_of({2, 2}, {2, 1, 1, 3}),
                   out = array_of({2, 2}, {1.107042, 2.785916, 1.669762, 1.660477});
  const Diagnosis both = diagnosis(inputs, in_out, {{"v", v}, {"out", out}});
  CHECK(first(both) == "qkv-shared");
  CHECK(says(both, "your v is made with wk"));
  CHECK(both.stages.back().status == StageStatus::match);  // out follows from that v
  CHECK(first(diagnosis(inputs, in_out, "out", out)) == "qkv-shared");
}

TEST_CASE("reports: queries made with the weight of the keys (R056)") {
  const Inputs inputs = two_tokens();
  CHECK(near(computed(inputs, in_out, "q"), {1, 2, 3, 1}));
  const Diagnosis wrong = diagnosis(inputs, in_out, "q", array_of({2, 2}, {2, 1, 1, 3}));
  CHECK(first(wrong) == "qkv-shared");
  CHECK(says(wrong, "your q is made with wk"));
}

TEST_CASE("reports: heads one by one in a fused weight, read in three blocks (R057)") {
  const Inputs inputs = fused_row(12);
  const Settings blocks{.heads = 2}, per_head{.heads = 2, .qkv_order = QkvOrder::per_head};
  CHECK(computed(inputs, blocks, "q") == Numbers{1, 2, 3, 4});
  CHECK(computed(inputs, blocks, "k") == Numbers{5, 6, 7, 8});
  CHECK(computed(inputs, blocks, "v") == Numbers{9, 10, 11, 12});
  CHECK(computed(inputs, per_head, "q") == Numbers{1, 2, 7, 8});
  CHECK(computed(inputs, per_head, "k") == Numbers{3, 4, 9, 10});
  CHECK(computed(inputs, per_head, "v") == Numbers{5, 6, 11, 12});
  const auto got = [&](const Settings& settings) {
    Got stages;
    for (const char* id : {"q", "k", "v"})
      stages[id] = array_of({2, 1, 2}, computed(inputs, settings, id));
    return stages;
  };
  const Diagnosis as_blocks = diagnosis(inputs, per_head, got(blocks)),
                  by_head = diagnosis(inputs, blocks, got(per_head));
  CHECK(found(as_blocks) == Words{"fused-qkv-order"});
  CHECK(found(by_head) == Words{"fused-qkv-order"});
  CHECK(says(by_head, "per-head"));
}

TEST_CASE("reports: equal thirds are not the widths of grouped heads (R058)") {
  const Settings grouped{.heads = 4, .kv_heads = 1};
  const Inputs fused = fused_row(12);
  CHECK(computed(fused, grouped, "q") == Numbers{1, 2, 3, 4, 5, 6, 7, 8});
  CHECK(computed(fused, grouped, "k") == Numbers{9, 10});
  CHECK(computed(fused, grouped, "v") == Numbers{11, 12});

  Inputs thirds;
  thirds.q = array_of({1, 4}, {1, 2, 3, 4}, DType::float64, "q.npy");
  thirds.k = array_of({1, 4}, {5, 6, 7, 8}, DType::float64, "k.npy");
  thirds.v = array_of({1, 4}, {9, 10, 11, 12}, DType::float64, "v.npy");
  const std::string refused = refusal(thirds, grouped);
  INFO(refused);
  CHECK(refused.find("k.npy") != std::string::npos);
  CHECK(refused.find("8, 2 and 2") != std::string::npos);
}

TEST_CASE("reports: a fused weight called qkv that holds k, v, q (R059)") {
  const Inputs inputs = fused_row(6);
  const Diagnosis wrong = diagnosis(inputs, {},
                                    {{"q", array_of({1, 2}, {5, 6})},
                                     {"k", array_of({1, 2}, {1, 2})},
                                     {"v", array_of({1, 2}, {3, 4})}});
  CHECK(found(wrong) == Words{"fused-qkv-order"});
  INFO(said(wrong));
  CHECK(says(wrong, "k v q"));
}

TEST_CASE("reports: the bias of the queries on the keys (R060)") {
  Inputs inputs;
  inputs.x = array_of({1, 2}, {1, 0});
  inputs.wq = identity(2, "wq.npy");
  inputs.wk = identity(2, "wk.npy");
  inputs.wv = identity(2, "wv.npy");
  inputs.bq = array_of({2}, {1, 2});
  CHECK(computed(inputs, in_out, "q") == Numbers{2, 2});
  const Diagnosis wrong =
      diagnosis(inputs, in_out, {{"q", array_of({1, 2}, {1, 0})}, {"k", array_of({1, 2}, {2, 2})}});
  CHECK(found(wrong) == Words{"bias-swapped"});
  CHECK(says(wrong, "bq is added to k"));
}

TEST_CASE("reports: a bias of the keys changes nothing after the softmax (R061)") {
  const Inputs inputs = key_bias();
  const Settings settings{.weight_order = WeightOrder::in_out};
  CHECK(near(computed(inputs, settings, "attn"), two_queries_attn));
  CHECK(near(computed(inputs, settings, "out"), two_queries_out));
  // without the bias the rows of scores are 3.5 and -1 less, after the scale
  CHECK(near(computed(inputs, settings, "scaled"), {4, 4.5, 5, -0.5, 0, -1.5}));
  const NamedArray k = array_of({3, 4}, {1, 1, 0, 0, 0, 2, 1, 0, 1, 0, 1, 1}),
                   scaled = array_of({2, 3}, {0.5, 1, 1.5, 0.5, 1, -0.5}),
                   attn = array_of({2, 3}, two_queries_attn);
  for (const Got& got : {Got{{"k", k}, {"attn", attn}}, Got{{"scaled", scaled}, {"attn", attn}}}) {
    const Diagnosis wrong = diagnosis(inputs, settings, got);
    CHECK(found(wrong) == Words{"bias-missing"});
    CHECK(says(wrong, "changes nothing after the softmax"));
    CHECK(wrong.stages.at(wrong.stages.size() - 2).status == StageStatus::match);
  }
  const Diagnosis unseen = diagnosis(inputs, settings, "attn", attn);
  CHECK(first(unseen) == "");
  CHECK(blind(unseen, "only keys have a bias: it shifts whole rows of scores", "bias-missing"));
}

TEST_CASE("reports: scores that are off by one number a row give the same weights (R061)") {
  // the same bias, in the user's code only
  const NamedArray scaled = array_of({2, 3}, {4, 4.5, 5, -0.5, 0, -1.5}),
                   attn = array_of({2, 3}, two_queries_attn);
  const Diagnosis wrong = diagnosis(two_queries(), {}, {{"scaled", scaled}, {"attn", attn}});
  CHECK(found(wrong) == Words{"scores-shifted"});
  CHECK(says(wrong, "changes nothing after the softmax"));
  CHECK(first(diagnosis(two_queries(), {}, "attn", attn)) == "");
}

TEST_CASE("reports: a bias of the keys that only the user's code has (R061)") {
  Inputs inputs = key_bias();
  inputs.bk.reset();
  const NamedArray k = array_of({3, 4}, {2, 3, 3, 4, 1, 4, 4, 4, 2, 2, 4, 5}),
                   attn = array_of({2, 3}, two_queries_attn);
  const Diagnosis wrong =
      diagnosis(inputs, {.weight_order = WeightOrder::in_out}, {{"k", k}, {"attn", attn}});
  CHECK(found(wrong) == Words{"bias-extra"});
  CHECK(says(wrong, "off by one vector in every row (1 in channel 0)"));
  CHECK(says(wrong, "changes nothing after the softmax"));
}

TEST_CASE("reports: out is the context, not projected (R062)") {
  Inputs inputs = two_queries();
  inputs.wo = array_of({2, 2}, {2, 0, 0, 1});
  CHECK(near(computed(inputs, {}, "out"), {2.398569, 1.320157, 1.150805, 0.790453}));
  CHECK(first(diagnosis(inputs, {}, "out", array_of({2, 2}, two_queries_out))) ==
        "out-proj-missing");
}

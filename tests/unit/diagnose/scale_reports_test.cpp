// Mistakes in the scale and the soft cap that people published, and scales that only look wrong:
// the verdict follows from the numbers of the reports, rounded to six decimals.
#include <catch2/catch.hpp>

#include "reports.hpp"

using namespace qkv;
using namespace qkv::test;

namespace {

Diagnosis of_attn(const Numbers& attn, const Settings& settings = {}) {
  return diagnosis(two_queries(), settings, "attn", array_of({2, 3}, attn));
}

/// H = 2, D = 2, E = 4, G = 2.
Diagnosis of_two_heads(const Numbers& attn) {
  return diagnosis(two_heads(), heads_2, "attn", array_of({2, 3, 3}, attn));
}

}  // namespace

TEST_CASE("reports: the scale defaults to 1 on one path (R010)") {
  const Diagnosis weights = of_attn({0.090031, 0.244728, 0.665241, 0.259496, 0.705385, 0.035119});
  CHECK(first(weights) == "scale-missing");
  CHECK(weights.faults.front().ties.empty());
  const Diagnosis out = diagnosis(two_queries(), {}, "out",
                                  array_of({2, 2}, {1.420512, 1.57521, 0.329735, 0.775623}));
  CHECK(first(out) == "scale-missing");
  CHECK(near(computed(two_queries(), {}, "attn"), two_queries_attn));
  CHECK(near(computed(two_queries(), {}, "out"), two_queries_out));
}

TEST_CASE("reports: no scale and no output projection, which only both together explain (R011)") {
  Inputs inputs = two_queries();
  inputs.wo = array_of({2, 2}, {0, 1, 1, 0});
  CHECK(near(computed(inputs, {}, "out"), {1.320157, 1.199285, 0.790453, 0.575402}));
  const Diagnosis both =
      diagnosis(inputs, {}, "out", array_of({2, 2}, {1.420512, 1.57521, 0.329735, 0.775623}));
  CHECK(found(both) == Words{"scale-missing", "out-proj-missing"});
  CHECK(says(both, "together with out-proj-missing: neither alone makes these numbers"));
}

TEST_CASE("reports: the root of the model's width in place of a head's (R012)") {
  CHECK(near(
      computed(two_heads(), heads_2, "attn"),
      {0.283995, 0.140029, 0.575975, 0.197776, 0.401112, 0.401112, 0.101675, 0.050133, 0.848192,
       0.894285, 0.052857, 0.052857, 0.248255, 0.50349, 0.248255, 0.333333, 0.333333, 0.333333}));
  const Diagnosis wrong = of_two_heads(
      {0.307196, 0.186324, 0.50648, 0.232697, 0.383652, 0.383652, 0.164252, 0.099624, 0.736125,
       0.786986, 0.106507, 0.106507, 0.274069, 0.451863, 0.274069, 0.333333, 0.333333, 0.333333});
  // 1/sqrt(4) is 1/2 and 1/sqrt(2) squared too.
  for (const char* id : {"scale-d-model", "scale-d-not-root", "scale-twice"}) {
    INFO(id);
    CHECK(names(wrong, id));
  }
}

TEST_CASE("reports: the root of the number of heads in place of their width (R013)") {
  Inputs inputs;
  inputs.q = array_of({3, 2, 4},
                      {1, 0, 2, 0, 0, 1, 0, -1, 2, 1, 0, 1, 1, 1, 1, 0, 0, 2, -1, 1, 1, -1, 0, 2});
  inputs.k = array_of({3, 3, 4}, {1, 1, 0, 0, 0,  2, 1, 0, 1, 0, 1, 1, 0, 1, 1, 0, 1, 0,
                                  0, 2, 1, 1, -1, 0, 2, 0, 0, 1, 0, 1, 0, 1, 1, 0, 1, 0});
  inputs.v = array_of({3, 3, 1}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  for (auto* tensor : {&inputs.q, &inputs.k, &inputs.v}) {
    Shape& shape = (*tensor)->array.shape;
    (*tensor)->array = reshaped((*tensor)->array, {1, shape[0], shape[1], shape[2]});
  }
  const Diagnosis wrong = diagnosis(
      inputs, {}, "attn",
      array_of({1, 3, 2, 3}, {0.167943, 0.29916, 0.532897, 0.322949, 0.575273, 0.101778, 0.101778,
                              0.575273, 0.322949, 0.471083, 0.264458, 0.264458, 0.222805, 0.706977,
                              0.070217, 0.738638, 0.130681, 0.130681}));
  CHECK(first(wrong) == "scale-heads");
  CHECK(wrong.faults.front().ties.empty());

  // With H = D both roots are one number.
  const Diagnosis right = of_two_heads({0.283995, 0.140029, 0.575975, 0.197776, 0.401112, 0.401112,
                                        0.101675, 0.050133, 0.848192, 0.894285, 0.052857, 0.052857,
                                        0.248255, 0.50349, 0.248255, 0.333333, 0.333333, 0.333333});
  CHECK(first(right) == "");
  CHECK(blind(right, "H = D", "scale-heads"));
}

TEST_CASE("reports: a scale of 1/sqrt(D) that is divided by (R014)") {
  const Diagnosis wrong = of_attn({0.015876, 0.11731, 0.866813, 0.118943, 0.878878, 0.002179});
  CHECK(first(wrong) == "scale-inverted");
}

TEST_CASE("reports: a scale that was asked for and not used (R015)") {
  const Settings asked{.scale = 1.0 / 6};
  CHECK(near(computed(two_queries(), asked, "attn"),
             {0.279566, 0.330268, 0.390166, 0.345078, 0.407662, 0.24726}));
  const Diagnosis wrong = of_attn(two_queries_attn, asked);
  CHECK(first(wrong) == "scale-other");
  CHECK(says(wrong, "0.5 = 1/sqrt(4), the default"));
  CHECK(says(wrong, "0.1667"));
}

TEST_CASE("reports: the scale applied twice, or 1/D, which is the same number (R016)") {
  const Diagnosis wrong = of_attn({0.254275, 0.326496, 0.419229, 0.345954, 0.444214, 0.209832});
  CHECK(names(wrong, "scale-twice"));
  CHECK(names(wrong, "scale-d-not-root"));
}

TEST_CASE("reports: the weights are scaled after the softmax (R017)") {
  const Diagnosis wrong = of_attn({0.045015, 0.122364, 0.33262, 0.129748, 0.352692, 0.01756});
  CHECK(first(wrong) == "scale-after-softmax");
}

TEST_CASE("reports: a bias that is added before the scale (R018)") {
  Inputs inputs = two_queries();
  inputs.mask = array_of({2, 3}, {0, -2, 1, 1, 0, -1}, DType::float64, "bias.npy");
  CHECK(near(computed(inputs, {}, "masked"), {0.5, -1, 2.5, 1.5, 1, -1.5}));
  const Numbers right = {0.116115, 0.025909, 0.857977, 0.603749, 0.366192, 0.030059};
  CHECK(near(computed(inputs, {}, "attn"), right));
  CHECK(first(diagnosis(inputs, {}, "attn", array_of({2, 3}, right))) == "");

  const Diagnosis scores = diagnosis(inputs, {}, "masked", array_of({2, 3}, {0.5, 0, 2, 1, 1, -1}));
  CHECK(first(scores) == "mask-scaled");
  CHECK(says(scores, "bias.npy"));
  // softmax of the rows above: e^0.5, 1, e^2 and e, e, 1/e
  const Diagnosis weights =
      diagnosis(inputs, {}, "attn",
                array_of({2, 3}, {0.164252, 0.099624, 0.736125, 0.468311, 0.468311, 0.063379}));
  CHECK(first(weights) == "mask-scaled");
}

TEST_CASE("reports: the fourth root of D on both sides is the right scale (R019)") {
  Inputs inputs = two_queries();
  const double root = std::pow(4, -0.25);
  Numbers q = {1, 0, 2, 0, 0, 1, 0, -1}, k = {1, 1, 0, 0, 0, 2, 1, 0, 1, 0, 1, 1};
  for (double& number : q) number *= root;
  for (double& number : k) number *= root;
  inputs.q = array_of({2, 4}, q);
  inputs.k = array_of({3, 4}, k);
  const Settings none{.scale = 1.0};
  CHECK(near(computed(inputs, none, "attn"), two_queries_attn));
  CHECK(first(diagnosis(inputs, none, "attn", array_of({2, 3}, two_queries_attn))) == "");
}

TEST_CASE("reports: an operation that scales by itself is not without a scale (R020)") {
  CHECK(first(of_attn(two_queries_attn)) == "");
}

TEST_CASE("reports: a cap that was asked for and not used (R096)") {
  const Settings capped{.softcap = 1.0};
  CHECK(near(computed(two_queries(), capped, "attn"),
             {0.255979, 0.345355, 0.398667, 0.364168, 0.491318, 0.144515}));
  CHECK(first(of_attn(two_queries_attn, capped)) == "softcap-missing");
}

TEST_CASE("diagnose: scores that were kept after the scale are named so, and nothing else is") {
  Inputs inputs;
  inputs.q = array_of({2, 4}, {1, 0, 2, 0, 0, 1, 0, -1});
  inputs.k = array_of({3, 4}, {1, 1, 0, 0, 0, 2, 1, 0, 1, 0, 1, 1});
  inputs.v = array_of({3, 2}, {1, 0, 0, 1, 2, 2});
  Case the_case = make_case(
      inputs, {},
      {{"scores", array_of({2, 3}, {0.5, 1, 1.5, 0.5, 1, -0.5})},
       {"attn", array_of({2, 3}, {0.186324, 0.307196, 0.50648, 0.331499, 0.546549, 0.121952})}});
  the_case.eps = 1e-5;  // six decimals
  const Diagnosis found = diagnose(the_case);
  REQUIRE(found.faults.size() == 1);
  CHECK(found.faults.front().id == "scores-scaled");
}

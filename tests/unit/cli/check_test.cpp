// qkv check on weights that people published as wrong, or as right although they look wrong. The
// numbers are those of the reports, rounded to six decimals, hence --tol 1e-5.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "qkv/base/json.hpp"
#include "qkv/io/write.hpp"
#include "support/arrays.hpp"
#include "support/program.hpp"

using namespace qkv;
using namespace qkv::test;

namespace {

using Words = std::vector<std::string>;

/// Tensors by their flag, without the dashes.
class Check {
 public:
  Check& give(const std::string& flag, const Shape& shape, const std::vector<double>& numbers,
              DType dtype = DType::float64) {
    const std::string path = folder_ / (flag + ".npy");
    write_npy(path, array_of(shape, numbers, dtype).array);
    words_.insert(words_.end(), {"--" + flag, path});
    return *this;
  }
  /// Without --tol.
  Check& rounded_by_type() {
    words_.clear();
    return *this;
  }
  Check& say(const Words& words) {
    words_.insert(words_.end(), words.begin(), words.end());
    return *this;
  }
  /// Runs it; the checks that failed are then failed(), and so on.
  int run() {
    Words all = {"check", "--json"};
    all.insert(all.end(), words_.begin(), words_.end());
    ended_ = run_program(all);
    if (!ended_.out.empty()) document_ = Json::parse(ended_.out, "stdout");
    INFO(command_line(all) << "\n" << ended_.err);
    return ended_.status;
  }

  Words with_status(const std::string& status) const {
    Words ids;
    for (const Json& check : document_.find("checks")->items()) {
      if (check.find("status")->text() == status) ids.push_back(check.find("id")->text());
    }
    return ids;
  }
  Words failed() const { return with_status("fail"); }
  bool failed(const std::string& id) const { return holds(failed(), id); }
  bool passed(const std::string& id) const { return holds(with_status("pass"), id); }
  bool warned(const std::string& id) const { return holds(with_status("warn"), id); }
  /// Message and hint of a check.
  std::string said(const std::string& id) const {
    for (const Json& check : document_.find("checks")->items()) {
      if (check.find("id")->text() != id) continue;
      const Json* hint = check.find("hint");
      return check.find("message")->text() +
             (hint->kind() == Json::Kind::text ? "; " + hint->text() : "");
    }
    return {};
  }
  bool says(const std::string& id, const std::string& words) const {
    return said(id).find(words) != std::string::npos;
  }
  const std::string& error() const { return ended_.err; }
  const Json& document() const { return document_; }

 private:
  static bool holds(const Words& list, const std::string& word) {
    return std::ranges::find(list, word) != list.end();
  }
  Folder folder_;
  Words words_ = {"--tol", "1e-5"};
  Ended ended_;
  Json document_;
};

// Two inputs that several reports share: L = 2, S = 3, D = 4, and L = S = 3, D = 2.
const std::vector<double> scaled_1 = {0.5, 1, 1.5, 0.5, 1, -0.5};
const std::vector<double> attn_1 = {0.186324, 0.307196, 0.50648, 0.331499, 0.546549, 0.121952};
const std::vector<double> causal_2 = {1, 0, 0, 0.19557, 0.80443, 0, 0.283995, 0.575975, 0.140029};

}  // namespace

TEST_CASE("check: right weights pass, with their scores and without") {
  CHECK(Check().give("attn", {2, 3}, attn_1).run() == 0);
  Check with_scores;
  CHECK(with_scores.give("attn", {2, 3}, attn_1).give("scaled", {2, 3}, scaled_1).run() == 0);
  CHECK(with_scores.passed("softmax.recompute"));
}

TEST_CASE("check: a softmax over a batch of 1 gives ones (R001)") {
  Check check;
  CHECK(check.give("attn", {1, 2}, {1, 1}).give("scaled", {1, 2}, {0.3, 2.1}).run() == 1);
  CHECK(check.failed("softmax.row_sum"));
  CHECK(check.failed("softmax.axis"));
  CHECK(check.says("softmax.axis", "axis 0"));
}

TEST_CASE("check: a softmax over the queries is named by its axis (R002, R005, R006)") {
  Check two;
  CHECK(two.give("attn", {3, 3},
                 {0.575975, 0.108383, 0.733681, 0.140029, 0.445808, 0.087949, 0.283995, 0.445808,
                  0.17837})
            .run() == 1);
  CHECK(two.says("softmax.axis", "the query axis (axis 0)"));

  // Scores are symmetric, and the two softmaxes each other's transpose: sums tell them apart.
  Check rows, columns;
  CHECK(rows.give("attn", {2, 2}, {0.731059, 0.268941, 0.731059, 0.268941}).run() == 0);
  CHECK(columns.give("attn", {2, 2}, {0.731059, 0.731059, 0.268941, 0.268941}).run() == 1);
  CHECK(columns.says("softmax.axis", "the query axis (axis 0)"));

  Check causal;
  CHECK(causal.give("attn", {3, 3}, {0.575975, 0, 0, 0.140029, 0.5, 0, 0.283995, 0.5, 1})
            .say({"--causal"})
            .run() == 1);
  CHECK(causal.says("softmax.axis", "the query axis (axis 0)"));
}

TEST_CASE("check: a softmax over the first of three axes is named (R003)") {
  Check check;
  CHECK(check.give("attn", {2, 1, 2}, {0.119203, 0.731059, 0.880797, 0.268941}).run() == 1);
  CHECK(check.says("softmax.axis", "the batch axis (axis 0)"));
}

TEST_CASE("check: weights of 1 for one key are no fault, for three keys they do not fit (R004)") {
  Check one_key, three_keys;
  CHECK(one_key.give("attn", {3, 1}, {1, 1, 1}).give("k", {1, 2}, {1, 2}).run() == 0);
  CHECK_FALSE(one_key.failed("softmax.axis"));
  CHECK(three_keys.give("attn", {3, 1}, {1, 1, 1}).give("k", {3, 2}, {1, 2, 3, 4, 5, 6}).run() ==
        2);
  CHECK(three_keys.error().find("S differs") != std::string::npos);
}

TEST_CASE("check: a second softmax shows beside the scores (R007)") {
  Check check;
  CHECK(check.give("attn", {2, 3}, {0.28524, 0.321887, 0.392873, 0.327775, 0.406416, 0.265809})
            .give("scaled", {2, 3}, scaled_1)
            .run() == 1);
  CHECK(check.failed() == Words{"softmax.recompute"});
}

TEST_CASE("check: exp without the row maximum, or with a floor on it (R008, R009)") {
  Check unstable, floored;
  CHECK(unstable.give("attn", {1, 5}, {0, 0, 0, std::nan(""), 0})
            .give("scaled", {1, 5}, {-250, -424, -460, 378, -292})
            .run() == 1);
  CHECK(unstable.failed("stage.finite"));
  CHECK(unstable.failed("softmax.recompute"));
  CHECK(floored.give("attn", {1, 2}, {0, 0}).give("scaled", {1, 2}, {-20000, -20001}).run() == 1);
  CHECK(floored.failed("softmax.row_sum"));
  CHECK(floored.failed("softmax.recompute"));
}

TEST_CASE("check: a mask after the softmax leaves rows below 1 (R025)") {
  Check check;
  CHECK(check.give("attn", {2, 3}, {0.186324, 0.307196, 0, 0.331499, 0.546549, 0})
            .give("mask", {1, 3}, {1, 1, 0}, DType::boolean)
            .run() == 1);
  CHECK(check.failed("mask.before_softmax"));
  CHECK(check.passed("mask.hidden_zero"));
  CHECK(check.says("mask.before_softmax", "before the softmax"));
  // Renormalised it is the same as masking before (R026).
  CHECK(Check()
            .give("attn", {2, 3}, {0.377541, 0.622459, 0, 0.377541, 0.622459, 0})
            .give("mask", {1, 3}, {1, 1, 0}, DType::boolean)
            .run() == 0);
}

TEST_CASE("check: equal weights in a row that sees no key are a policy, named by its flag (R035)") {
  const std::vector<double> attn = {0.186324, 0.307196, 0.50648, 1.0 / 3, 1.0 / 3, 1.0 / 3};
  const std::vector<double> keep = {1, 1, 1, 0, 0, 0};
  Check zero, uniform;
  CHECK(zero.give("attn", {2, 3}, attn).give("mask", {2, 3}, keep, DType::boolean).run() == 1);
  CHECK(zero.failed("softmax.row_sum"));
  CHECK(zero.says("mask.empty_rows", "[1]"));
  CHECK(uniform.give("attn", {2, 3}, attn)
            .give("mask", {2, 3}, keep, DType::boolean)
            .say({"--empty-rows", "uniform"})
            .run() == 0);
  CHECK(uniform.warned("mask.empty_rows"));
}

TEST_CASE("check: the zeros of attn decide the alignment of the causal rule (R039)") {
  const std::vector<double> start = {1, 0, 0, 0.377541, 0.622459, 0};
  const std::vector<double> end = {0.377541, 0.622459, 0, 0.331499, 0.546549, 0.121952};
  const auto with = [](const std::vector<double>& attn, const std::string& align) {
    return Check().give("attn", {2, 3}, attn).say({"--causal", "--causal-align", align}).run();
  };
  CHECK(with(start, "start") == 0);
  CHECK(with(end, "end") == 0);
  CHECK(with(end, "start") == 1);
  // Hiding more than the rule asks for cannot be told from weights of 0 by attn alone.
  Check more;
  CHECK(more.give("attn", {2, 3}, start)
            .give("scaled", {2, 3}, scaled_1)
            .say({"--causal", "--causal-align", "end"})
            .run() == 1);
}

TEST_CASE("check: more queries than keys, aligned to the end, leave rows empty (R040)") {
  Check check;
  CHECK(check.give("attn", {5, 2}, {0, 0, 0, 0, 0, 0, 1, 0, 0.5, 0.5})
            .say({"--causal", "--causal-align", "end"})
            .run() == 0);
  CHECK(check.warned("mask.empty_rows"));
  CHECK(check.says("mask.empty_rows", "[0], [1] and [2]"));
}

TEST_CASE("check: fewer queries than keys, aligned to the end (R041)") {
  const double third = 1.0 / 3;
  const std::vector<double> attn = {third, third, third, 0,    0,  //
                                    0.25,  0.25,  0.25,  0.25, 0, 0.2, 0.2, 0.2, 0.2, 0.2};
  const auto with = [&](const std::string& align) {
    return Check().give("attn", {3, 5}, attn).say({"--causal", "--causal-align", align}).run();
  };
  CHECK(with("end") == 0);
  CHECK(with("start") == 1);
}

TEST_CASE("check: with as many queries as keys both alignments hold (R042)") {
  for (const char* align : {"start", "end"}) {
    CHECK(Check().give("attn", {3, 3}, causal_2).say({"--causal", "--causal-align", align}).run() ==
          0);
  }
}

TEST_CASE("check: a window of one key too many gets through (R043)") {
  const double third = 1.0 / 3;
  const std::vector<double> wide = {1,    0,     0,     0,     0,    0.5,  0.5,  0,    0,
                                    0,    third, third, third, 0,    0,    0.25, 0.25, 0.25,
                                    0.25, 0,     0,     0.25,  0.25, 0.25, 0.25};
  Check three, four;
  CHECK(three.give("attn", {5, 5}, wide).say({"--causal", "--window", "2"}).run() == 1);
  CHECK(three.failed("mask.leak"));
  CHECK(three.says("mask.leak", "the window"));
  CHECK(four.give("attn", {5, 5}, wide).say({"--causal", "--window", "3"}).run() == 0);
}

TEST_CASE("check: a window that ends a key early shows beside the scores (R044)") {
  // Scores of 0, left 2: row i sees i-2 to i+1 where i-2 to i+2 was asked for.
  std::vector<double> attn(64, 0);
  for (std::size_t i = 0; i < 8; ++i) {
    const std::size_t first = i < 2 ? 0 : i - 2, last = std::min<std::size_t>(i + 1, 7);
    for (std::size_t j = first; j <= last; ++j)
      attn[i * 8 + j] = 1.0 / static_cast<double>(last - first + 1);
  }
  const std::vector<double> scores(64, 0);
  const auto with = [&](const std::string& window) {
    return Check()
        .give("attn", {8, 8}, attn)
        .give("scaled", {8, 8}, scores)
        .say({"--window", window})
        .run();
  };
  CHECK(with("2,1") == 0);
  CHECK(with("2,2") == 1);
}

TEST_CASE("check: dropout left on makes rows sum to other than 1 (R094, R095)") {
  Check rows, one_key;
  CHECK(rows.give("attn", {2, 3}, {0.207026, 0, 0.562756, 0.368332, 0.607277, 0.135502}).run() ==
        1);
  CHECK(rows.says("softmax.row_sum", "dropout"));
  CHECK(one_key.give("attn", {1, 1}, {1.25}).run() == 1);
  CHECK(one_key.failed("softmax.range"));
  CHECK(one_key.failed("softmax.row_sum"));
}

TEST_CASE("check: rows that sum to less than 1 may be those of a sink (R097)") {
  Check check;
  CHECK(check.give("attn", {2, 3}, {0.15706, 0.258948, 0.426933, 0.248967, 0.410477, 0.09159})
            .run() == 1);
  CHECK(check.failed() == Words{"softmax.row_sum"});
  CHECK(check.says("softmax.row_sum", "a sink in the denominator"));
}

TEST_CASE("check: keys of the future do not take part in the softmax (R101)") {
  // Scores 2, 1, 0, 0 with two valid keys.
  const auto with = [](const std::vector<double>& attn) {
    return Check()
        .give("attn", {1, 4}, attn)
        .give("scaled", {1, 4}, {2, 1, 0, 0})
        .give("mask", {1, 4}, {1, 1, 0, 0}, DType::boolean)
        .run();
  };
  CHECK(with({0.731059, 0.268941, 0, 0}) == 0);
  CHECK(with({0.610296, 0.224515, 0.0825945, 0.0825945}) == 1);
}

TEST_CASE("check: queries of zeros are why all weights are equal (R102)") {
  Check check;
  CHECK(check.give("attn", {2, 4}, std::vector<double>(8, 0.25))
            .give("q", {2, 3}, std::vector<double>(6, 0))
            .run() == 0);
  CHECK(check.warned("softmax.uniform"));
  CHECK(check.says("softmax.uniform", "q is all zero"));
}

TEST_CASE("check: what masked has at -inf is what is hidden") {
  Check right, leaking;
  const std::vector<double> masked = {0.5, 1, -HUGE_VAL, 0.5, 1, -HUGE_VAL};
  CHECK(right.give("attn", {2, 3}, {0.377541, 0.622459, 0, 0.377541, 0.622459, 0})
            .give("masked", {2, 3}, masked)
            .run() == 0);
  CHECK(right.passed("mask.leak"));
  CHECK(leaking.give("attn", {2, 3}, attn_1).give("masked", {2, 3}, masked).run() == 1);
  CHECK(leaking.failed("mask.leak"));
}

TEST_CASE("check: the integers of a complemented mask are refused (R023)") {
  Check check;
  CHECK(check.give("mask", {1, 3}, {-2, -1, -2}, DType::int64).run() == 2);
  CHECK(check.error().find("bitwise complement") != std::string::npos);
}

TEST_CASE("check: values bound what weights can make of them, head by head") {
  Check right, wrong;
  CHECK(right.give("v", {3, 2}, {1, 0, 0, 1, 2, 2})
            .give("out", {2, 2}, {1.199285, 1.320157, 0.575402, 0.790453})
            .run() == 0);
  CHECK(right.passed("stage.magnitude"));
  CHECK(wrong.give("v", {1, 2, 3, 1}, {1, 2, 3, 10, 20, 30})
            .give("heads-out", {1, 2, 1, 1}, {1.5, 31})
            .run() == 1);
  CHECK(wrong.failed() == Words{"stage.magnitude"});
}

TEST_CASE("check: the report has the keys of a trace") {
  Check check;
  REQUIRE(check.give("attn", {2, 3}, attn_1).say({"--d-k", "4"}).run() == 0);
  const Json& document = check.document();
  CHECK(document.find("schema")->text() == "qkv.check/1");
  CHECK(document.find("status")->text() == "pass");
  CHECK(document.find("checks")->items().size() == 21);
  const Json& stage = document.find("stages")->items().at(0);
  CHECK(stage.find("name")->text() == "attn");
  CHECK(stage.find("dtype")->text() == "float64");
  CHECK(stage.find("dims")->items().at(1).text() == "S");
  CHECK(document.find("config")->find("D")->number() == 4);
  CHECK(document.find("config")->find("rounding")->number() == 1e-5);
}

TEST_CASE("check: half-precision weights of thousands of keys are judged by their own rounding") {
  // 2^-12 is a float16, and the next one is a 1024th more: 400 of 4096 keys are off by that step.
  std::vector<double> attn(4096, 0x1p-12);
  std::fill_n(attn.begin(), 400, 0x1.004p-12);
  Check half, finer;
  CHECK(half.rounded_by_type().give("attn", {1, 4096}, attn, DType::float16).run() == 0);
  CHECK(finer.rounded_by_type().give("attn", {1, 4096}, attn).run() == 1);
}

// attn of the first input with a sink of logit 0.5, and its row sums 0.84294 and 0.751033.
const std::vector<double> sunk_1 = {0.15706, 0.258948, 0.426933, 0.248967, 0.410477, 0.09159};

TEST_CASE("check: a sink leaves rows below 1, each by its own share (R097)") {
  Check told, with_scores, wrong;
  CHECK(told.give("attn", {2, 3}, sunk_1).give("sinks", {1}, {0.5}).run() == 0);
  with_scores.give("attn", {2, 3}, sunk_1)
      .give("scaled", {2, 3}, scaled_1)
      .give("sinks", {1}, {0.5});
  CHECK(with_scores.run() == 0);
  CHECK(with_scores.passed("softmax.row_sum"));
  CHECK(with_scores.passed("softmax.recompute"));
  wrong.give("attn", {2, 3}, sunk_1).give("scaled", {2, 3}, scaled_1).give("sinks", {1}, {1.5});
  CHECK(wrong.run() == 1);
  CHECK(wrong.failed("softmax.row_sum"));
}

TEST_CASE("check: after dropout rows sum to 1 on average, and weights are those over 1 - p") {
  const std::vector<double> dropped = {0.207026, 0, 0.562756, 0.368332, 0.607277, 0.135502};
  Check told, with_scores, other;
  CHECK(told.give("attn", {2, 3}, dropped).say({"--dropout", "0.1"}).run() == 0);
  with_scores.give("attn", {2, 3}, dropped).give("scaled", {2, 3}, scaled_1);
  CHECK(with_scores.say({"--dropout", "0.1"}).run() == 0);
  CHECK(with_scores.passed("softmax.recompute"));
  other.give("attn", {2, 3}, dropped).give("scaled", {2, 3}, scaled_1).say({"--dropout", "0.3"});
  CHECK(other.run() == 1);
  CHECK(other.failed("softmax.recompute"));
}

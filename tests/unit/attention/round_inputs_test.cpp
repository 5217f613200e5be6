// Inputs rounded to half precision: which, and what is said of those that do not fit.
#include "qkv/attention/round_inputs.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "qkv/attention/problem.hpp"
#include "support/arrays.hpp"

using namespace qkv;
using namespace qkv::test;

namespace {

const Settings float16{.arithmetic = Arithmetic::float16};

double first(const std::optional<NamedArray>& input) { return element(input->array, 0); }

}  // namespace

TEST_CASE("round_inputs: tensors of numbers are rounded, rules and positions are not") {
  // 1 + 2^-12 is 1 in float16; 2049 lies in the middle of 2048 and 2050.
  const double fine = 1 + 0x1p-12;
  Inputs inputs;
  inputs.x = array_of({1, 1}, {fine}, DType::float32, "x.npy");
  inputs.wq = array_of({1, 1}, {2049}, DType::int64, "wq.npy");
  inputs.bq = array_of({1}, {fine}, DType::float64, "bq.npy");
  inputs.sinks = array_of({1}, {fine}, DType::float32, "sinks.npy");
  inputs.past_k = array_of({1, 1, 1, 1}, {fine}, DType::float32, "past_k.npy");
  inputs.mask = array_of({1, 1}, {fine}, DType::float32, "mask.npy");
  inputs.position = array_of({1}, {2049}, DType::int64, "position.npy");
  inputs.lengths = array_of({1}, {2049}, DType::int64, "lengths.npy");
  std::vector<std::string> notes;
  const Inputs got = rounded(inputs, float16, notes);
  CHECK(first(got.x) == 1);
  CHECK(first(got.wq) == 2048);
  CHECK(first(got.bq) == 1);
  CHECK(first(got.sinks) == 1);
  CHECK(first(got.past_k) == 1);
  CHECK(first(got.mask) == 1);
  CHECK(first(got.position) == 2049);
  CHECK(first(got.lengths) == 2049);
  CHECK(notes.empty());
  CHECK(first(rounded(inputs, Settings{}, notes).x) == fine);
}

TEST_CASE("round_inputs: a tensor of the type itself is shared, and a bool mask") {
  Inputs inputs;
  inputs.x = array_of({1, 2}, {1, 65504}, DType::float16, "x.npy");
  inputs.mask = array_of({1, 2}, {1, 0}, DType::boolean, "mask.npy");
  std::vector<std::string> notes;
  const Inputs got = rounded(inputs, float16, notes);
  CHECK(got.x->array.data == inputs.x->array.data);
  CHECK(got.mask->array.data == inputs.mask->array.data);
  // float16 is no bfloat16: 65504 rounds to 65536 there.
  const Inputs other = rounded(inputs, Settings{.arithmetic = Arithmetic::bfloat16}, notes);
  CHECK(element(other.x->array, 1) == 65536);
}

TEST_CASE("round_inputs: what becomes infinite is counted, file by file; what was is not") {
  Inputs inputs;
  inputs.q = array_of({1, 3}, {1, 65520, -1e300}, DType::float64, "q.npy");
  inputs.k = inputs.q;
  inputs.v = array_of({1, 3}, {HUGE_VAL, 65519, 0}, DType::float32, "v.npy");
  inputs.mask = array_of({1, 2}, {0, -1e9}, DType::float32, "mask.npy");
  std::vector<std::string> notes;
  const Inputs got = rounded(inputs, float16, notes);
  CHECK(element(got.q->array, 1) == HUGE_VAL);
  CHECK(element(got.q->array, 2) == -HUGE_VAL);
  CHECK(element(got.mask->array, 1) == -HUGE_VAL);
  CHECK(notes ==
        std::vector<std::string>{
            "q.npy is infinite where it is beyond the largest float16, 65504: 2 of 3 elements",
            "mask.npy is infinite where it is beyond the largest float16, 65504: 1 of 2 elements"});
}

TEST_CASE("round_inputs: the fill is a number of the type, its lowest, or infinite with a note") {
  using Kind = Fill::Kind;
  std::vector<std::string> notes;
  const auto f16 = Arithmetic::float16, bf16 = Arithmetic::bfloat16;
  CHECK(rounded(Fill{Kind::lowest, 0}, f16, notes) == Fill{Kind::number, -65504});
  CHECK(rounded(Fill{Kind::lowest, 0}, bf16, notes) == Fill{Kind::number, -std::ldexp(255.0, 120)});
  CHECK(rounded(Fill{Kind::number, -10001}, f16, notes) == Fill{Kind::number, -10000});
  CHECK(rounded(Fill{}, f16, notes) == Fill{});
  CHECK(rounded(Fill{Kind::lowest, 0}, Arithmetic::native, notes) == Fill{Kind::lowest, 0});
  CHECK(notes.empty());
  CHECK(rounded(Fill{Kind::number, -1e9}, f16, notes) == Fill{});
  CHECK(notes ==
        std::vector<std::string>{
            "the fill -1000000000 is beyond the largest float16, 65504, and becomes -inf"});
}

// Masks that people combined, reshaped or derived, as they published it: the verdict follows from
// the numbers of the reports, rounded to six decimals.
#include <catch2/catch.hpp>

#include "reports.hpp"

using namespace qkv;
using namespace qkv::test;

namespace {

const double not_a_number = std::nan("");
constexpr double lowest = -3.4028234663852886e38;  // of float32

/// L = 4, S = 5, B = 2, H = 3, scores of 0: weights are equal over what is seen.
Inputs many_heads() {
  Inputs inputs;
  inputs.q = array_of({2, 3, 4, 1}, Numbers(24, 0));
  inputs.k = array_of({2, 3, 5, 1}, Numbers(30, 1));
  inputs.v = array_of({2, 3, 5, 1}, Numbers(30, 1));
  return inputs;
}

/// Entry n of the leading axis keeps key n % 5 only.
NamedArray one_key_each(std::size_t leading) {
  Numbers numbers(leading * 20, 0);
  for (std::size_t n = 0; n < leading; ++n) {
    for (std::size_t l = 0; l < 4; ++l) numbers[n * 20 + l * 5 + n % 5] = 1;
  }
  return keep({leading, 4, 5}, numbers);
}

/// The one key that query 0 of each batch row and head sees.
std::vector<std::size_t> seen_keys(const Inputs& inputs, const Settings& settings) {
  const Numbers attn = computed(inputs, settings, "attn");
  std::vector<std::size_t> keys;
  for (std::size_t row = 0; row < attn.size(); row += 20) {
    const auto begin = attn.begin() + static_cast<std::ptrdiff_t>(row);
    keys.push_back(static_cast<std::size_t>(std::find(begin, begin + 5, 1) - begin));
  }
  return keys;
}

}  // namespace

TEST_CASE("reports: a lower triangle of what is kept is the causal mask (R024)") {
  Inputs inputs = three_queries();
  inputs.mask = keep({3, 3}, {1, 0, 0, 1, 1, 0, 1, 1, 1});
  const Numbers right = {1, 0, 0, 0.19557, 0.80443, 0, 0.283995, 0.575975, 0.140029};
  CHECK(near(computed(inputs, {}, "attn"), right));
  CHECK(first(diagnosis(inputs, {}, "attn", array_of({3, 3}, right))) == "");
}

TEST_CASE("reports: two masks of the lowest number join by a minimum, not by a sum (R032)") {
  Inputs inputs = two_queries();
  // Both hide keys 0 and 1 of query 0; each hides one key more of query 1.
  inputs.mask = array_of({2, 3}, {lowest, lowest, 0, lowest, 0, 0}, DType::float32, "mask.npy");
  inputs.key_padding = keep({1, 3}, {0, 0, 1});
  for (auto* tensor : {&inputs.q, &inputs.k, &inputs.v}) {
    const Shape& shape = (*tensor)->array.shape;
    (*tensor)->array = reshaped((*tensor)->array, {1, shape[0], shape[1]});
  }
  const Settings fill{.fill = {.kind = Fill::Kind::lowest}};
  std::size_t infinite = 0;
  attend<float>(make_problem<float>(inputs, fill),
                [&](std::string_view id, Tensor<float, 4>& value) {
                  if (id != "masked") return;
                  for (const float number : value.elements()) infinite += std::isinf(number);
                });
  CHECK(infinite == 0);

  // A query from which both hide every key: the sum makes NaN of its weights.
  inputs.key_padding.reset();
  inputs.q = array_of({1, 3, 4}, {1, 0, 2, 0, 0, 1, 0, -1, 1, 1, 1, 1});
  inputs.k = array_of({1, 2, 4}, {1, 1, 0, 0, 0, 2, 1, 0});
  inputs.v = array_of({1, 2, 2}, {1, 0, 0, 1});
  inputs.mask = array_of({3, 2}, {lowest, lowest, 0, 0, 0, 0}, DType::float32, "mask.npy");
  const Settings causal{.causal = true, .causal_align = CausalAlign::end, .fill = fill.fill};
  const Diagnosis summed =
      diagnosis(inputs, causal, "attn",
                array_of({1, 3, 2}, {not_a_number, not_a_number, 1, 0, 0.377541, 0.622459}));
  CHECK(first(summed) == "empty-rows-nan");
  CHECK(says(summed, "the lowest number twice is -inf"));
}

TEST_CASE("reports: half of the lowest number may be added to itself (R033)") {
  Inputs inputs;
  inputs.q = array_of({1, 1}, {1});
  inputs.k = array_of({2, 1}, {5, 2});
  inputs.v = array_of({2, 1}, {1, 2});
  inputs.mask = array_of({2}, {lowest / 2 + lowest / 2, 0}, DType::float32);
  CHECK(computed(inputs, {}, "attn") == Numbers{0, 1});
  const Diagnosis right = diagnosis(inputs, {}, "attn", array_of({1, 2}, {0, 1}, DType::float32));
  CHECK(first(right) == "");
}

TEST_CASE("reports: the causal rule and the padding leave a query without a key (R037)") {
  Inputs inputs = three_queries();
  for (auto* tensor : {&inputs.q, &inputs.k, &inputs.v}) {
    const Shape& shape = (*tensor)->array.shape;
    (*tensor)->array = reshaped((*tensor)->array, {1, shape[0], shape[1]});
  }
  inputs.key_padding = keep({1, 3}, {0, 1, 1});
  const Settings causal{.causal = true};
  const Numbers right = {0, 0, 0, 0, 1, 0, 0, 0.80443, 0.19557};
  CHECK(near(computed(inputs, causal, "attn"), right));
  CHECK(first(diagnosis(inputs, causal, "attn", array_of({1, 3, 3}, right))) == "");
  Numbers spoilt = right;
  std::fill_n(spoilt.begin(), 3, not_a_number);
  CHECK(first(diagnosis(inputs, causal, "attn", array_of({1, 3, 3}, spoilt))) == "empty-rows-nan");
}

TEST_CASE("reports: weights and output treat a query without a key in two ways (R038)") {
  Inputs inputs = two_queries();
  inputs.mask = keep({2, 3}, {1, 1, 0, 0, 0, 0});
  const Diagnosis two_ways = diagnosis(
      inputs, {},
      {{"attn",
        array_of({2, 3}, {0.377541, 0.622459, 0, not_a_number, not_a_number, not_a_number})},
       {"out", array_of({2, 2}, {0.377541, 0.622459, 0, 0})}});
  CHECK(found(two_ways) == Words{"empty-rows-nan"});
  CHECK(two_ways.faults.front().explains == Words{"attn", "out"});
  CHECK(says(two_ways, "your out is made with weights of 0"));
}

TEST_CASE("reports: a mask for as many keys as queries does not fit more keys (R048)") {
  Inputs inputs = two_queries();
  inputs.mask = keep({1, 2, 3}, {1, 1, 0, 1, 1, 0});
  CHECK(near(computed(inputs, {}, "attn"), {0.377541, 0.622459, 0, 0.377541, 0.622459, 0}));
  inputs.mask = keep({1, 1, 2, 2}, {1, 0, 1, 1});
  const std::string refused = refusal(inputs, {});
  INFO(refused);
  CHECK(refused.find("mask.npy, axis 3, S") != std::string::npos);
  CHECK(refused.find("(1,1,2,3), got (1,1,2,2)") != std::string::npos);
}

TEST_CASE("reports: the leading axis of a rank-3 mask is never guessed (R049)") {
  Inputs inputs = many_heads();
  inputs.mask = one_key_each(2);
  CHECK(refusal(inputs, {}).find("reshape it to (2,1,4,5)") != std::string::npos);
  inputs.mask->array = reshaped(inputs.mask->array, {2, 1, 4, 5});
  CHECK(seen_keys(inputs, {}) == std::vector<std::size_t>{0, 0, 0, 1, 1, 1});

  inputs.mask = one_key_each(6);
  CHECK(refusal(inputs, {}).find("reshape it to (2,3,4,5)") != std::string::npos);
  // torch.nn.MultiheadAttention has it so, entry b*H + h.
  CHECK(seen_keys(inputs, {.mask_true = MaskTrue::attend, .preset = "torch-mha"}) ==
        std::vector<std::size_t>{0, 1, 2, 3, 4, 0});

  inputs.mask = one_key_each(3);
  CHECK(seen_keys(inputs, {}) == std::vector<std::size_t>{0, 1, 2, 0, 1, 2});
  const Problem<double> by_head = make_problem<double>(inputs, {});
  CHECK(std::ranges::any_of(by_head.notes, [](const std::string& note) {
    return note.find("mask.npy (3,4,5) is read by head, as (H,L,S)") != std::string::npos;
  }));
}

TEST_CASE("reports: a mask of integers 0 and 1 keeps and hides (R052)") {
  const Numbers masked = {0.377541, 0.622459, 0, 0.377541, 0.622459, 0};
  Inputs inputs = two_queries();
  inputs.mask = array_of({3}, {1, 1, 0}, DType::int64);
  CHECK(near(computed(inputs, {}, "attn"), masked));
  inputs.mask = array_of({3}, {0, 0, -HUGE_VAL}, DType::float32);
  CHECK(near(computed(inputs, {}, "attn"), masked));
  inputs.mask = array_of({3}, {0, 0, -10000}, DType::float32);
  CHECK(near(computed(inputs, {}, "attn"), masked));
  inputs.mask = array_of({3}, {0, 0, -10000}, DType::int64, "mask.npy");
  const std::string refused = refusal(inputs, {});
  INFO(refused);
  CHECK(refused.find("mask.npy") != std::string::npos);
}

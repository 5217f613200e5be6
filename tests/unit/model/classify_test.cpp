// Classify: the mean over real tokens, the last linear map and its softmax.
#include "qkv/model/classify.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "support/arrays.hpp"
#include "unit/text/golden_text.hpp"

using namespace qkv;
using namespace qkv::test;

namespace {

Tensor<double, 3> rank_three(const Shape& shape, const std::vector<double>& numbers) {
  return as_rank<double, 3>(array_of(shape, numbers).array);
}

Tensor<std::uint8_t, 2> flags(std::size_t B, std::size_t L, const std::vector<int>& values) {
  auto tensor = Tensor<std::uint8_t, 2>::make({B, L});
  for (std::size_t n = 0; n < values.size(); ++n)
    tensor.data()[n] = static_cast<std::uint8_t>(values[n]);
  return tensor;
}

NamedArray matrix(std::size_t rows, std::size_t columns, const std::string& where) {
  return array_of({rows, columns}, std::vector<double>(rows * columns, 1), DType::float64, where);
}

struct Read {
  WeightOrder order;
  std::string note;
};

Read read(const NamedArray& fc_w, std::size_t E, WeightOrder order = WeightOrder::automatic,
          const Inputs& siblings = {}) {
  Read read{};
  read.order = read_classifier<double>(fc_w, {}, E, order, siblings, read.note).order;
  return read;
}

}  // namespace

TEST_CASE("mean_over_real: padding, also NaN, never counts") {
  const double nan = std::nan("");
  const auto x = rank_three({2, 3, 2}, {1, 10, 3, 30, nan, nan, nan, nan, 5, 50, 100, nan});
  const auto mean = mean_over_real(x, flags(2, 3, {1, 1, 0, 0, 1, 0}));
  CHECK(departure(as_array(mean), array_of({2, 2}, {2, 20, 5, 50}).array, 0) == "");
}

TEST_CASE("mean_over_real: a row of padding alone is an error that names it") {
  const auto x = rank_three({2, 2, 1}, {1, 2, 3, 4});
  CHECK(told([&] {
          mean_over_real(x, flags(2, 2, {1, 0, 0, 0}));
        }) ==
        "no real token to take the mean over (batch row 1): expected one at least, got padding "
        "alone");
}

TEST_CASE("real_tokens: what neither a length nor the key padding hides") {
  Visibility<double> visibility;
  visibility.B = 2;
  visibility.L = visibility.S = 3;
  const auto all = real_tokens(visibility);
  CHECK(std::ranges::all_of(all.elements(), [](std::uint8_t real) { return real == 1; }));
  visibility.lengths = {3, 1};
  visibility.padded = flags(2, 3, {1, 0, 0, 0, 0, 1});
  const auto real = real_tokens(visibility);
  CHECK(std::vector<int>(real.data(), real.data() + 6) == std::vector<int>{0, 1, 1, 1, 0, 0});
}

TEST_CASE("classify: logits of ln 3 and 0 are three to one") {
  Linear<double> fc;
  fc.weight = as_rank<double, 2>(array_of({2, 2}, {std::log(3), 0, 7, 7}).array);
  const auto classified = classify(rank_three({1, 2, 2}, {2, 0, 0, 0}), flags(1, 2, {1, 1}), fc);
  CHECK(departure(as_array(classified.mean), array_of({1, 2}, {1, 0}).array, 0) == "");
  CHECK(departure(as_array(classified.logits), array_of({1, 2}, {std::log(3), 0}).array, 0) == "");
  CHECK(departure(as_array(classified.p), array_of({1, 2}, {0.75, 0.25}).array, 1e-15) == "");
}

TEST_CASE("read_classifier: the shape tells the order; of a square one, its siblings or in-out") {
  CHECK(read(matrix(4, 3, "fc_w.npy"), 4).order == WeightOrder::in_out);
  CHECK(read(matrix(3, 4, "fc_w.npy"), 4).order == WeightOrder::out_in);
  CHECK(read(matrix(3, 4, "fc_w.npy"), 4).note.empty());
  const Read square = read(matrix(4, 4, "fc_w.npy"), 4);
  CHECK(square.order == WeightOrder::in_out);
  CHECK(square.note ==
        "fc_w.npy is square: read as in-out (y = x·W); say --weight-order out-in if it is stored "
        "the other way");
  CHECK(read(matrix(4, 4, "fc_w.npy"), 4, WeightOrder::out_in).order == WeightOrder::out_in);
  Inputs siblings;
  siblings.x = array_of({2, 6}, std::vector<double>(12, 1));
  siblings.wv = matrix(4, 6, "wv.npy");
  CHECK(read(matrix(4, 4, "fc_w.npy"), 4, WeightOrder::automatic, siblings).order ==
        WeightOrder::out_in);
}

TEST_CASE("read_classifier: a weight or bias that does not fit is an error that names the file") {
  std::string note;
  const auto refuse = [&](const NamedArray& fc_w, const std::optional<NamedArray>& fc_b) {
    return told([&] { read_classifier<double>(fc_w, fc_b, 4, WeightOrder::automatic, {}, note); });
  };
  CHECK(refuse(matrix(5, 3, "w.npy"), {}) ==
        "the weight of the classifier does not fit (w.npy): expected (E,C) or (C,E), E = 4, the "
        "width of the output of attention, got (5,3)");
  CHECK(told([&] {
          read_classifier<double>(matrix(4, 3, "w.npy"), {}, 4, WeightOrder::out_in, {}, note);
        }) ==
        "the weight of the classifier does not fit (w.npy, axis 1, E): expected 4, the width of "
        "the output of attention, got 3 in (4,3)");
  CHECK(refuse(array_of({4}, {1, 1, 1, 1}, DType::float64, "w.npy"), {}) ==
        "the weight of the classifier is no matrix (w.npy): expected (E,C) or (C,E), E = 4, the "
        "width of the output of attention, got (4)");
  CHECK(refuse(matrix(4, 3, "w.npy"), array_of({2}, {1, 1}, DType::float64, "b.npy")) ==
        "the bias of the classifier does not fit (b.npy): expected (3), C as in w.npy (4,3), got "
        "(2)");
  CHECK(refuse(matrix(4, 0, "w.npy"), {}) ==
        "no class (w.npy): expected C of at least 1, got (4,0)");
}

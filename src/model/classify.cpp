// Classify: mean over the real tokens, a linear map, a softmax.
#include "qkv/model/classify.hpp"

#include <algorithm>
#include <vector>

#include "qkv/attention/project.hpp"
#include "qkv/attention/softmax.hpp"
#include "qkv/base/error.hpp"
#include "qkv/base/text.hpp"

namespace qkv {

namespace {

/// The order of the attention weights, where the shape of one tells it.
WeightOrder order_of_siblings(const Inputs& inputs) {
  const WeightOrders orders = find_weight_orders(inputs, {});
  const std::pair<const std::optional<NamedArray>&, WeightOrder> weights[] = {
      {inputs.wq, orders.wq},
      {inputs.wk, orders.wk},
      {inputs.wv, orders.wv},
      {inputs.wqkv, orders.wqkv}};
  for (const auto& [weight, order] : weights) {
    if (weight && weight->array.shape[0] != weight->array.shape[1]) return order;
  }
  return WeightOrder::automatic;
}

WeightOrder order_of(const NamedArray& fc_w, std::size_t E, WeightOrder order,
                     const Inputs& siblings, std::string& note) {
  const Shape& shape = fc_w.array.shape;
  const bool in_out = shape[0] == E, out_in = shape[1] == E;
  if (order != WeightOrder::automatic) return order;
  if (fc_w.known_out_in) return WeightOrder::out_in;
  if (in_out != out_in) return in_out ? WeightOrder::in_out : WeightOrder::out_in;
  const WeightOrder told = order_of_siblings(siblings);
  const bool read_out_in = told == WeightOrder::out_in;
  note = fc_w.where + " is square: read as " +
         (read_out_in ? "out-in (y = x·Wᵀ)" : "in-out (y = x·W)") +
         (told == WeightOrder::automatic ? "" : ", like the weights whose shape tells") +
         "; say --weight-order " + (read_out_in ? "in-out" : "out-in") +
         " if it is stored the other way";
  return read_out_in ? WeightOrder::out_in : WeightOrder::in_out;
}

}  // namespace

template <class T>
Tensor<std::uint8_t, 2> real_tokens(const Visibility<T>& visibility) {
  auto real = Tensor<std::uint8_t, 2>::make({visibility.B, visibility.L});
  for (std::size_t b = 0; b < visibility.B; ++b) {
    for (std::size_t l = 0; l < visibility.L; ++l) {
      const bool behind = !visibility.lengths.empty() && l >= visibility.lengths[b];
      const bool padded = !visibility.padded.empty() && visibility.padded(b, l) != 0;
      real(b, l) = behind || padded ? 0 : 1;
    }
  }
  return real;
}

template <class T>
Tensor<T, 2> mean_over_real(const Tensor<T, 3>& x, const Tensor<std::uint8_t, 2>& real) {
  const std::size_t B = x.size(0), L = x.size(1), E = x.size(2);
  auto mean = Tensor<T, 2>::make({B, E});
  for (std::size_t b = 0; b < B; ++b) {
    std::vector<double> sum(E, 0.0);
    std::size_t count = 0;
    for (std::size_t l = 0; l < L; ++l) {
      if (real(b, l) == 0) continue;
      ++count;
      for (std::size_t e = 0; e < E; ++e) sum[e] += static_cast<double>(x(b, l, e));
    }
    if (count == 0) {
      throw Error(Complaint{.what = "no real token to take the mean over",
                            .where = "batch row " + std::to_string(b),
                            .expected = "one at least",
                            .got = L == 0 ? "no token" : "padding alone"});
    }
    for (std::size_t e = 0; e < E; ++e)
      mean(b, e) = static_cast<T>(sum[e] / static_cast<double>(count));
  }
  return mean;
}

template <class T>
Linear<T> read_classifier(const NamedArray& fc_w, const std::optional<NamedArray>& fc_b,
                          std::size_t E, WeightOrder order, const Inputs& siblings,
                          std::string& note) {
  const Shape& shape = fc_w.array.shape;
  const std::string set_by = std::to_string(E) + ", the width of the output of attention";
  if (shape.size() != 2) {
    throw Error(Complaint{.what = "the weight of the classifier is no matrix",
                          .where = fc_w.where,
                          .expected = "(E,C) or (C,E), E = " + set_by,
                          .got = shape_text(shape)});
  }
  if (order == WeightOrder::automatic && shape[0] != E && shape[1] != E) {
    throw Error(Complaint{.what = "the weight of the classifier does not fit",
                          .where = fc_w.where,
                          .expected = "(E,C) or (C,E), E = " + set_by,
                          .got = shape_text(shape)});
  }
  Linear<T> linear;
  linear.order = order_of(fc_w, E, order, siblings, note);
  const bool in_out = linear.order == WeightOrder::in_out;
  const std::size_t in = shape[in_out ? 0 : 1], C = shape[in_out ? 1 : 0];
  Complaints complaints;
  if (in != E) {
    complaints.add({.what = "the weight of the classifier does not fit",
                    .where = fc_w.where + (in_out ? ", axis 0, E" : ", axis 1, E"),
                    .expected = set_by,
                    .got = std::to_string(in) + " in " + shape_text(shape)});
  } else if (C == 0) {
    complaints.add({.what = "no class",
                    .where = fc_w.where,
                    .expected = "C of at least 1",
                    .got = shape_text(shape)});
  } else if (fc_b && fc_b->array.shape != Shape{C}) {
    complaints.add(
        {.what = "the bias of the classifier does not fit",
         .where = fc_b->where,
         .expected = shape_text({C}) + ", C as in " + fc_w.where + " " + shape_text(shape),
         .got = shape_text(fc_b->array.shape)});
  }
  complaints.throw_if_any();
  linear.weight = as_rank<T, 2>(fc_w.array);
  if (fc_b) linear.bias = as_rank<T, 1>(fc_b->array);
  linear.where = fc_w.where;
  return linear;
}

template <class T>
Classified<T> classify(const Tensor<T, 3>& out, const Tensor<std::uint8_t, 2>& real,
                       const Linear<T>& fc) {
  const std::size_t B = out.size(0), E = out.size(2), C = fc.out();
  Classified<T> result;
  result.mean = mean_over_real(out, real);
  result.logits =
      project(result.mean.template reshaped<3>({1, B, E}), fc).template reshaped<2>({B, C});
  result.p = softmax(result.logits.template reshaped<4>({B, 1, 1, C}), EmptyRows::nan)
                 .template reshaped<2>({B, C});
  return result;
}

template Tensor<std::uint8_t, 2> real_tokens(const Visibility<float>&);
template Tensor<std::uint8_t, 2> real_tokens(const Visibility<double>&);
template Tensor<float, 2> mean_over_real(const Tensor<float, 3>&, const Tensor<std::uint8_t, 2>&);
template Tensor<double, 2> mean_over_real(const Tensor<double, 3>&, const Tensor<std::uint8_t, 2>&);
template Linear<float> read_classifier(const NamedArray&, const std::optional<NamedArray>&,
                                       std::size_t, WeightOrder, const Inputs&, std::string&);
template Linear<double> read_classifier(const NamedArray&, const std::optional<NamedArray>&,
                                        std::size_t, WeightOrder, const Inputs&, std::string&);
template Classified<float> classify(const Tensor<float, 3>&, const Tensor<std::uint8_t, 2>&,
                                    const Linear<float>&);
template Classified<double> classify(const Tensor<double, 3>&, const Tensor<std::uint8_t, 2>&,
                                     const Linear<double>&);

}  // namespace qkv

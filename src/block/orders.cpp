// How the weights of a block are stored: by flag, by name, by shape, by the weights beside them.
#include <vector>

#include "qkv/base/text.hpp"
#include "qkv/block/problem.hpp"

namespace qkv {

namespace {

using MaybeArray = std::optional<NamedArray>;

bool is_matrix(const MaybeArray& weight) { return weight && telling_shape(*weight).size() == 2; }

bool is_square(const MaybeArray& weight) {
  return is_matrix(weight) && telling_shape(*weight)[0] == telling_shape(*weight)[1];
}

/// The order that the shape allows for a weight with `width` on the side `in_out_axis` of in-out.
WeightOrder by_shape(const MaybeArray& weight, std::size_t width, std::size_t in_out_axis) {
  if (!is_matrix(weight) || is_square(weight)) return WeightOrder::automatic;
  const Shape& shape = telling_shape(*weight);
  if (shape[in_out_axis] == width) return WeightOrder::in_out;
  if (shape[1 - in_out_axis] == width) return WeightOrder::out_in;
  return WeightOrder::automatic;
}

struct Candidate {
  const MaybeArray& weight;
  std::size_t in_out_axis;  ///< the axis that has the width of x where stored in-out
  WeightOrder* order;
};

}  // namespace

BlockOrders find_block_orders(const Inputs& inputs, const BlockInputs& block,
                              const Settings& settings) {
  BlockOrders orders;
  orders.attention = settings.weight_order;
  const std::size_t E =
      inputs.x && !inputs.x->array.shape.empty() ? inputs.x->array.shape.back() : 0;
  const Candidate feed_forward[] = {
      {block.ff_w1, 0, &orders.w1}, {block.ff_w3, 0, &orders.w3}, {block.ff_w2, 1, &orders.w2}};
  // W_O maps the heads, not x: it tells nothing by its shape.
  const MaybeArray* attention[] = {&inputs.wq, &inputs.wk, &inputs.wv, &inputs.wqkv, &inputs.wo};
  if (settings.weight_order != WeightOrder::automatic) {
    orders.w1 = orders.w2 = orders.w3 = settings.weight_order;
    return orders;
  }

  // What a shape or a name tells about the weights of each side.
  WeightOrder ff_tells = WeightOrder::automatic, attention_tells = WeightOrder::automatic;
  std::string ff_teller, attention_teller;
  for (const Candidate& candidate : feed_forward) {
    *candidate.order = candidate.weight && candidate.weight->known_out_in
                           ? WeightOrder::out_in
                           : by_shape(candidate.weight, E, candidate.in_out_axis);
    if (*candidate.order == WeightOrder::automatic || ff_tells != WeightOrder::automatic) continue;
    ff_tells = *candidate.order;
    ff_teller = candidate.weight->where;
  }
  for (const MaybeArray* weight : attention) {
    if (!*weight) continue;
    const WeightOrder order = (*weight)->known_out_in ? WeightOrder::out_in
                              : weight == &inputs.wo  ? WeightOrder::automatic
                                                      : by_shape(*weight, E, 0);
    if (order == WeightOrder::automatic || attention_tells != WeightOrder::automatic) continue;
    attention_tells = order;
    attention_teller = (*weight)->where;
  }

  std::vector<std::string> square;
  WeightOrder settled = WeightOrder::in_out;
  std::string teller;
  for (const Candidate& candidate : feed_forward) {
    if (!candidate.weight || *candidate.order != WeightOrder::automatic) continue;
    settled = ff_tells != WeightOrder::automatic          ? ff_tells
              : attention_tells != WeightOrder::automatic ? attention_tells
                                                          : WeightOrder::in_out;
    teller = ff_tells != WeightOrder::automatic ? ff_teller : attention_teller;
    *candidate.order = settled;
    if (is_square(candidate.weight)) square.push_back(candidate.weight->where);
  }
  if (attention_tells == WeightOrder::automatic && ff_tells != WeightOrder::automatic) {
    settled = orders.attention = ff_tells;
    teller = ff_teller;
    for (const MaybeArray* weight : attention)
      if (is_square(*weight)) square.push_back((*weight)->where);
  }
  if (!square.empty()) {
    const bool in_out = settled == WeightOrder::in_out;
    orders.note = listed(square) +
                  (square.size() == 1 ? " is square: read as " : " are square: read as ") +
                  (in_out ? "in-out (y = x·W)" : "out-in (y = x·Wᵀ)") +
                  (teller.empty() ? "" : ", like " + teller + " whose shape tells") +
                  "; say --weight-order " + (in_out ? "out-in" : "in-out") +
                  " if they are stored the other way";
  }
  return orders;
}

}  // namespace qkv

// How each weight is stored, in-out or out-in: by flag, by name, by shape, by its siblings, in this
// order.
#include <array>
#include <optional>
#include <vector>

#include "qkv/attention/sizes.hpp"
#include "qkv/base/text.hpp"

namespace qkv {

namespace {

std::size_t last_axis(const std::optional<NamedArray>& named) {
  return named && !named->array.shape.empty() ? named->array.shape.back() : 0;
}

/// One weight whose order is to be found, and the width of what it is applied to (0: not known
/// yet).
struct Candidate {
  const std::optional<NamedArray>& weight;
  std::size_t in;
  WeightOrder& order;
};

/// The order that the shape allows, or automatic where both or neither fit.
WeightOrder order_by_shape(const Shape& shape, std::size_t in) {
  if (shape.size() != 2 || shape[0] == shape[1]) return WeightOrder::automatic;
  if (shape[0] == in) return WeightOrder::in_out;
  if (shape[1] == in) return WeightOrder::out_in;
  return WeightOrder::automatic;
}

}  // namespace

WeightOrders find_weight_orders(const Inputs& inputs, const Settings& settings) {
  WeightOrders orders;
  const std::size_t E = last_axis(inputs.x);
  const std::size_t E_context = inputs.context ? last_axis(inputs.context) : E;
  std::vector<Candidate> candidates = {{inputs.wq, E, orders.wq},
                                       {inputs.wk, E_context, orders.wk},
                                       {inputs.wv, E_context, orders.wv},
                                       {inputs.wqkv, E, orders.wqkv}};

  std::optional<WeightOrder> siblings;
  std::vector<std::string> square;
  const auto settle = [&](const Candidate& candidate) {
    if (settings.weight_order != WeightOrder::automatic) {
      candidate.order = settings.weight_order;
    } else if (candidate.weight->known_out_in) {
      candidate.order = WeightOrder::out_in;
    } else {
      candidate.order = order_by_shape(telling_shape(*candidate.weight), candidate.in);
      if (candidate.order != WeightOrder::automatic) siblings = candidate.order;
    }
  };
  for (const Candidate& candidate : candidates) {
    if (candidate.weight) settle(candidate);
  }
  // W_O maps H*Dv, which is the width that W_V makes, times H/G.
  if (inputs.wo) {
    std::size_t in = 0;
    if (inputs.wv && inputs.wv->array.shape.size() == 2) {
      const std::size_t heads_per_group =
          settings.heads / settings.kv_heads.value_or(settings.heads);
      const WeightOrder wv = orders.wv == WeightOrder::automatic ? WeightOrder::in_out : orders.wv;
      const std::size_t out_axis = wv == WeightOrder::in_out ? 1 : 0;
      in = inputs.wv->head_shape.empty() ? inputs.wv->array.shape[out_axis] * heads_per_group
                                         : inputs.wv->head_shape[out_axis] * settings.heads;
    } else if (inputs.v && inputs.v->array.shape.size() == 4) {
      const Shape& q = inputs.q ? inputs.q->array.shape : inputs.v->array.shape;
      in = q.size() == 4 ? q[settings.layout == Layout::bhld ? 1 : 2] * last_axis(inputs.v) : 0;
    } else if (inputs.v) {
      in = last_axis(inputs.v) * (settings.heads / settings.kv_heads.value_or(settings.heads));
    } else if (inputs.wqkv && inputs.wqkv->array.shape.size() == 2) {
      const std::size_t G = settings.kv_heads.value_or(settings.heads);
      const WeightOrder order =
          orders.wqkv == WeightOrder::automatic ? WeightOrder::in_out : orders.wqkv;
      const std::size_t width = inputs.wqkv->array.shape[order == WeightOrder::in_out ? 1 : 0];
      in = width / (settings.heads + 2 * G) * settings.heads;
    }
    candidates.push_back({inputs.wo, in, orders.wo});
    settle(candidates.back());
  }

  for (const Candidate& candidate : candidates) {
    if (!candidate.weight || candidate.order != WeightOrder::automatic) continue;
    candidate.order = siblings.value_or(WeightOrder::in_out);
    const Shape& shape = telling_shape(*candidate.weight);
    if (shape.size() == 2 && shape[0] == shape[1]) square.push_back(candidate.weight->where);
  }
  if (!square.empty()) {
    const bool in_out = siblings.value_or(WeightOrder::in_out) == WeightOrder::in_out;
    orders.note =
        listed(square) + (square.size() == 1 ? " is square: read as " : " are square: read as ") +
        (in_out ? "in-out (y = x·W)" : "out-in (y = x·Wᵀ)") +
        (siblings ? ", like the weights whose shape tells" : "") + "; say --weight-order " +
        (in_out ? "out-in" : "in-out") + " if they are stored the other way";
  }
  return orders;
}

}  // namespace qkv

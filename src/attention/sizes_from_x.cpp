// Sizes from x, context and weights.
#include "size_finder.hpp"

namespace qkv {

void SizeFinder::from_x() {
  if (!require_rank(in_.x, {2, 3}, "X of shape (L,E) or (B,L,E)",
                    shape_of(in_.x).size() == 4
                        ? "tensors of rank 4 are projected already: give them as --q, --k and --v"
                        : "")) {
    return;
  }
  const Shape& x = shape_of(in_.x);
  sizes_.has_batch = x.size() == 3;
  sizes_.B = sizes_.has_batch ? x[0] : 1;
  sizes_.L = sizes_.S = x[x.size() - 2];
  sizes_.E = sizes_.E_context = x.back();
  if (in_.context) from_context();
  const WeightOrders orders = find_weight_orders(in_, settings_);
  if (in_.wqkv) {
    from_fused(orders.wqkv);
    return;
  }
  const std::size_t q_width = weight(in_.wq, "wq", orders.wq, in_.x, sizes_.E);
  const MaybeArray& source = in_.context ? in_.context : in_.x;
  const std::size_t k_width = weight(in_.wk, "wk", orders.wk, source, sizes_.E_context);
  const std::size_t v_width = weight(in_.wv, "wv", orders.wv, source, sizes_.E_context);
  if (q_width == 0 || k_width == 0 || v_width == 0) return;
  sizes_.D = split(q_width, sizes_.H, in_.wq, "H·D", "--heads");
  sizes_.Dv = split(v_width, sizes_.G, in_.wv, "G·Dv", kv_flag());
  if (sizes_.D > 0 && k_width != sizes_.G * sizes_.D) {
    complain("key width differs from query width", in_.wk->where + ", G·D",
             std::to_string(sizes_.G * sizes_.D) + " = G·D with D = " + std::to_string(sizes_.D) +
                 " as in " + origin(in_.wq),
             std::to_string(k_width) + " in " + shape_text(shape_of(in_.wk)),
             grouped_hint(k_width));
  }
  bias(in_.bq, "H·D", q_width, in_.wq);
  bias(in_.bk, "G·D", k_width, in_.wk);
  bias(in_.bv, "G·Dv", v_width, in_.wv);
  if (in_.bqkv)
    complain("a fused bias without a fused weight", in_.bqkv->where, "--wqkv, or --bq --bk --bv",
             "separate weights");
}

void SizeFinder::from_context() {
  if (!require_rank(in_.context, {shape_of(in_.x).size()},
                    "rank " + std::to_string(shape_of(in_.x).size()) + " as in " + origin(in_.x)))
    return;
  const Shape& context = shape_of(in_.context);
  sizes_.has_context = true;
  sizes_.S = context[context.size() - 2];
  sizes_.E_context = context.back();
  if (sizes_.has_batch && context[0] != sizes_.B) {
    complain("batch differs from x", axis_of(in_.context, 0, "B"),
             std::to_string(sizes_.B) + " as in " + origin(in_.x),
             std::to_string(context[0]) + " in " + shape_text(context));
  }
}

std::size_t SizeFinder::weight(const MaybeArray& named, const std::string& name, WeightOrder order,
                               const MaybeArray& source, std::size_t in) {
  if (!require_rank(named, {2}, name + " of rank 2, (in,out) or (out,in)")) return 0;
  const Shape& shape = shape_of(named);
  const std::size_t in_axis = order == WeightOrder::in_out ? 0 : 1;
  if (shape[in_axis] != in) {
    const bool other_fits = telling_shape(*named)[1 - in_axis] == in &&
                            settings_.weight_order != WeightOrder::automatic;
    complain("weight does not fit what it is applied to", axis_of(named, in_axis, "E"),
             std::to_string(in) + " as in " + origin(source),
             std::to_string(shape[in_axis]) + " in " + shape_text(shape),
             other_fits ? std::string("the other axis fits: --weight-order ") +
                              (in_axis == 0 ? "out-in" : "in-out")
                        : "");
    return 0;
  }
  if (shape[1 - in_axis] == 0)
    complain("empty weight", named->where, "at least one column", shape_text(shape));
  return shape[1 - in_axis];
}

void SizeFinder::from_fused(WeightOrder order) {
  const std::size_t width = weight(in_.wqkv, "wqkv", order, in_.x, sizes_.E);
  if (width == 0) return;
  if (settings_.qkv_order == QkvOrder::per_head && sizes_.G != sizes_.H) {
    complain("grouped heads in a per-head fused weight", "--qkv-order",
             "per-group, or blocks, where --kv-heads differs from --heads", "per-head");
    return;
  }
  const std::size_t parts = sizes_.H + 2 * sizes_.G;
  if (width % parts != 0) {
    complain("heads do not divide the fused width", in_.wqkv->where + ", (H+2G)·D",
             "a multiple of " + std::to_string(parts) + " = " + std::to_string(sizes_.H) +
                 " query, " + std::to_string(sizes_.G) + " key and " + std::to_string(sizes_.G) +
                 " value heads",
             std::to_string(width) + " in " + shape_text(shape_of(in_.wqkv)));
    return;
  }
  sizes_.D = sizes_.Dv = width / parts;
  bias(in_.bqkv, "(H+2G)·D", width, in_.wqkv);
  bias(in_.bq, "H·D", sizes_.H * sizes_.D, in_.wqkv);
  bias(in_.bk, "G·D", sizes_.G * sizes_.D, in_.wqkv);
  bias(in_.bv, "G·Dv", sizes_.G * sizes_.Dv, in_.wqkv);
}

}  // namespace qkv

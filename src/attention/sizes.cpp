// Sizes: the value of every axis symbol, found from shapes alone; complains of every shape that
// does not fit.
#include "qkv/attention/sizes.hpp"

#include <string>

#include "qkv/attention/mask_shape.hpp"
#include "qkv/base/error.hpp"
#include "qkv/base/text.hpp"

namespace qkv {

namespace {

using Maybe = std::optional<NamedArray>;

const Shape& shape_of(const Maybe& named) { return named->array.shape; }

/// "x.npy (2,4,8)", for "expected E = 8 as in ...".
std::string origin(const Maybe& named) { return named->where + " " + shape_text(shape_of(named)); }

std::string axis_of(const Maybe& named, std::size_t axis, const std::string& symbol) {
  return named->where + ", axis " + std::to_string(axis) + ", " + symbol;
}

class Finder {
 public:
  Finder(const Inputs& inputs, const Settings& settings) : in_(inputs), settings_(settings) {}

  Sizes find() {
    require_one_way_in();
    complaints_.throw_if_any();
    sizes_.H = settings_.heads;
    sizes_.G = settings_.kv_heads.value_or(settings_.heads);
    if (sizes_.projects) {
      from_x();
    } else {
      from_qkv();
    }
    // What follows compares with the sizes found so far; if those are wrong it would complain of
    // right files.
    complaints_.throw_if_any();
    require_groups();
    output_weight();
    cache();
    rope();
    complaints_.throw_if_any();
    sizes_.has_heads = sizes_.H > 1 || sizes_.rank_four;
    require_mask_shapes(in_, settings_, sizes_, complaints_);
    require_position_shape();
    complaints_.throw_if_any();
    return sizes_;
  }

 private:
  void complain(std::string what, std::string where, std::string expected, std::string got,
                std::string hint = {}) {
    complaints_.add(
        {std::move(what), std::move(where), std::move(expected), std::move(got), std::move(hint)});
  }

  /// Either x (with weights) or q, k and v.
  void require_one_way_in() {
    const bool any_qkv = in_.q || in_.k || in_.v;
    if (!in_.x && !any_qkv) {
      complain("no input", in_.context ? "--context" : "",
               "X, a bundle folder, or --q, --k and --v",
               in_.context ? "a context alone" : "none of them");
      return;
    }
    if (in_.x && any_qkv) {
      const Maybe& first = in_.q ? in_.q : in_.k ? in_.k : in_.v;
      complain(
          "both X and Q/K/V", in_.x->where + ", " + first->where, "one of the two", "both",
          "X is projected to q, k and v; give --q --k --v only where that has been done already");
      return;
    }
    sizes_.projects = in_.x.has_value();
    if (sizes_.projects) {
      require_weights();
      return;
    }
    for (const auto& [given, flag] : {std::pair{in_.q.has_value(), "--q"},
                                      {in_.k.has_value(), "--k"},
                                      {in_.v.has_value(), "--v"}}) {
      if (!given) complain("missing input", flag, "--q, --k and --v together", "only some of them");
    }
    if (in_.context)
      complain("a context without X", in_.context->where, "X, which makes the queries",
               "q, k and v");
  }

  void require_weights() {
    const bool any_single = in_.wq || in_.wk || in_.wv;
    if (in_.wqkv && any_single) {
      const Maybe& single = in_.wq ? in_.wq : in_.wk ? in_.wk : in_.wv;
      complain("both fused and separate weights", in_.wqkv->where + ", " + single->where,
               "one of the two", "both");
    }
    if (in_.wqkv && in_.context) {
      complain("a fused weight with a context", in_.wqkv->where,
               "separate weights: q comes from x, k and v from the context", "--wqkv");
    }
    if (in_.wqkv) return;
    std::vector<std::string> missing;
    if (!in_.wq) missing.emplace_back("wq");
    if (!in_.wk) missing.emplace_back("wk");
    if (!in_.wv) missing.emplace_back("wv");
    if (missing.empty()) return;
    complain("missing weights", in_.x->where,
             "wq, wk and wv (or a fused wqkv) to make q, k and v from x", "no " + listed(missing),
             "give -w DIR, --wq FILE and so on, or --q --k --v if x is projected already");
  }

  bool require_rank(const Maybe& named, std::initializer_list<std::size_t> ranks,
                    const std::string& expected, const std::string& hint = {}) {
    for (const std::size_t rank : ranks) {
      if (shape_of(named).size() == rank) return true;
    }
    complain("wrong rank", named->where, expected, shape_text(shape_of(named)), hint);
    return false;
  }

  // --- from x, context and weights
  // -------------------------------------------------------------------------------

  void from_x() {
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
    const Maybe& source = in_.context ? in_.context : in_.x;
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

  void from_context() {
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

  /// The width that a weight makes of `in`, 0 after a complaint.
  std::size_t weight(const Maybe& named, const std::string& name, WeightOrder order,
                     const Maybe& source, std::size_t in) {
    if (!require_rank(named, {2}, name + " of rank 2, (in,out) or (out,in)")) return 0;
    const Shape& shape = shape_of(named);
    const std::size_t in_axis = order == WeightOrder::in_out ? 0 : 1;
    if (shape[in_axis] != in) {
      const bool other_fits =
          shape[1 - in_axis] == in && settings_.weight_order != WeightOrder::automatic;
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

  std::size_t split(std::size_t width, std::size_t heads, const Maybe& named,
                    const std::string& symbol, const std::string& flag) {
    if (width % heads == 0) return width / heads;
    complain("heads do not divide the width", named->where + ", " + symbol,
             "a multiple of " + std::to_string(heads) + " as in " + flag,
             std::to_string(width) + " in " + shape_text(shape_of(named)));
    return 0;
  }

  std::string kv_flag() const { return settings_.kv_heads ? "--kv-heads" : "--heads"; }

  /// Where k has fewer heads than q and --kv-heads was not given, its width tells how many.
  std::string grouped_hint(std::size_t k_width) const {
    if (settings_.kv_heads || sizes_.D == 0 || k_width % sizes_.D != 0) return {};
    const std::size_t G = k_width / sizes_.D;
    if (G == 0 || G >= sizes_.H || sizes_.H % G != 0) return {};
    return std::to_string(k_width) + " would be " + std::to_string(G) +
           " key/value heads of width " + std::to_string(sizes_.D) + ": --kv-heads " +
           std::to_string(G);
  }

  void from_fused(WeightOrder order) {
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

  void bias(const Maybe& named, const std::string& symbol, std::size_t width, const Maybe& weight) {
    if (!named) return;
    if (shape_of(named) == Shape{width}) return;
    complain("bias does not fit its weight", named->where + ", " + symbol,
             "(" + std::to_string(width) + ") as in " + origin(weight),
             shape_text(shape_of(named)));
  }

  // --- from q, k and v
  // -------------------------------------------------------------------------------------------

  void from_qkv() {
    const std::size_t rank = shape_of(in_.q).size();
    const std::string ranks = "(L,D), (B,L,H·D) or (B,H,L,D)";
    if (!require_rank(in_.q, {2, 3, 4}, "q of shape " + ranks)) return;
    const std::string same = "rank " + std::to_string(rank) + " as in " + origin(in_.q);
    const bool k_fits = require_rank(in_.k, {rank}, same),
               v_fits = require_rank(in_.v, {rank}, same);
    for (const auto& [weight, flag] : {std::pair{&in_.wq, "wq"},
                                       {&in_.wk, "wk"},
                                       {&in_.wv, "wv"},
                                       {&in_.wqkv, "wqkv"},
                                       {&in_.bq, "bq"},
                                       {&in_.bk, "bk"},
                                       {&in_.bv, "bv"},
                                       {&in_.bqkv, "bqkv"}}) {
      if (*weight)
        complain("a projection with projected input", (*weight)->where,
                 std::string("X for ") + flag + " to work on", "q, k and v");
    }
    if (!k_fits || !v_fits) return;
    sizes_.has_batch = rank > 2;
    sizes_.B = rank > 2 ? shape_of(in_.q)[0] : 1;
    if (rank > 2) {
      same_axis(in_.k, 0, "B", sizes_.B);
      same_axis(in_.v, 0, "B", sizes_.B);
    }
    if (rank == 4) {
      from_rank_four();
    } else {
      from_merged_heads(rank);
    }
  }

  void same_axis(const Maybe& named, std::size_t axis, const std::string& symbol,
                 std::size_t wanted) {
    const std::size_t got = shape_of(named)[axis];
    if (got == wanted) return;
    complain(symbol == "B" ? "batch differs from q" : symbol + " differs from q",
             axis_of(named, axis, symbol), std::to_string(wanted) + " as in " + origin(in_.q),
             std::to_string(got) + " in " + shape_text(shape_of(named)));
  }

  void from_rank_four() {
    const std::size_t head_axis = settings_.layout == Layout::bhld ? 1 : 2,
                      length_axis = 3 - head_axis;
    const Shape &q = shape_of(in_.q), &k = shape_of(in_.k), &v = shape_of(in_.v);
    sizes_.rank_four = true;
    if (settings_.heads != 1 && settings_.heads != q[head_axis]) {
      complain("heads differ from q", axis_of(in_.q, head_axis, "H"),
               std::to_string(settings_.heads) + " as in --heads",
               std::to_string(q[head_axis]) + " in " + shape_text(q), layout_hint(q));
    }
    if (settings_.kv_heads && *settings_.kv_heads != k[head_axis]) {
      complain("key/value heads differ from k", axis_of(in_.k, head_axis, "G"),
               std::to_string(*settings_.kv_heads) + " as in --kv-heads",
               std::to_string(k[head_axis]) + " in " + shape_text(k), layout_hint(k));
    }
    sizes_.H = q[head_axis];
    sizes_.G = k[head_axis];
    sizes_.L = q[length_axis];
    sizes_.S = k[length_axis];
    sizes_.D = q[3];
    sizes_.Dv = v[3];
    if (v[head_axis] != sizes_.G) {
      complain("key and value heads differ", axis_of(in_.v, head_axis, "G"),
               std::to_string(sizes_.G) + " as in " + origin(in_.k),
               std::to_string(v[head_axis]) + " in " + shape_text(v));
    }
    head_width(3, k[3], length_axis);
    key_count(length_axis);
  }

  std::string layout_hint(const Shape& shape) const {
    const std::size_t other = settings_.layout == Layout::bhld ? 2 : 1;
    if (settings_.heads != 1 && shape[other] == settings_.heads)
      return std::string("axis ") + std::to_string(other) + " fits: --layout " +
             (other == 2 ? "blhd" : "bhld");
    return {};
  }

  void from_merged_heads(std::size_t rank) {
    const std::size_t last = rank - 1, length_axis = rank - 2;
    sizes_.L = shape_of(in_.q)[length_axis];
    sizes_.S = shape_of(in_.k)[length_axis];
    sizes_.D = split(shape_of(in_.q)[last], sizes_.H, in_.q, "H·D", "--heads");
    sizes_.Dv = split(shape_of(in_.v)[last], sizes_.G, in_.v, "G·Dv", kv_flag());
    if (sizes_.D == 0 && shape_of(in_.q)[last] != 0) return;
    head_width(last, shape_of(in_.k)[last], length_axis);
    key_count(length_axis);
  }

  /// k's last axis against q's: D, or G·D where heads are merged.
  void head_width(std::size_t axis, std::size_t got, std::size_t length_axis) {
    const bool merged = axis < 3 && sizes_.G > 1;
    const std::size_t wanted = axis < 3 ? sizes_.G * sizes_.D : sizes_.D;
    if (got == wanted) return;
    const Shape& k = shape_of(in_.k);
    std::string hint = axis < 3 ? grouped_hint(got) : std::string();
    if (hint.empty() && k[length_axis] == wanted) {
      hint = "axes " + std::to_string(length_axis) + " and " + std::to_string(axis) + " of " +
             in_.k->where + " look exchanged: is it already transposed?";
    }
    complain("head width differs from q", axis_of(in_.k, axis, merged ? "G·D" : "D"),
             std::to_string(wanted) + " as in " + origin(in_.q),
             std::to_string(got) + " in " + shape_text(k), hint);
  }

  void key_count(std::size_t length_axis) {
    const std::size_t keys = shape_of(in_.k)[length_axis], values = shape_of(in_.v)[length_axis];
    if (keys == values) return;
    complain("keys and values differ in number", axis_of(in_.v, length_axis, "S"),
             std::to_string(keys) + " as in " + origin(in_.k),
             std::to_string(values) + " in " + shape_text(shape_of(in_.v)),
             "each key needs its value: attn (L,S) is multiplied with v (S,Dv)");
  }

  // --- what both ways share
  // --------------------------------------------------------------------------------------

  void require_groups() {
    if (sizes_.H == 0 || sizes_.G == 0) {
      complain("no heads", sizes_.projects ? "--heads" : in_.q->where, "at least 1", "0");
    } else if (sizes_.H % sizes_.G != 0) {
      complain("query heads are no multiple of key/value heads",
               sizes_.rank_four ? in_.k->where + ", G" : "--kv-heads",
               "a divisor of H = " + std::to_string(sizes_.H) +
                   (sizes_.rank_four ? " as in " + origin(in_.q) : " as in --heads"),
               std::to_string(sizes_.G));
    } else if (sizes_.D == 0) {
      complain("head width is 0", sizes_.projects ? "wq" : in_.q->where, "at least one channel",
               "0");
    }
    complaints_.throw_if_any();
  }

  void output_weight() {
    const std::size_t width = sizes_.H * sizes_.Dv;
    sizes_.E_out = width;
    if (!in_.wo) {
      if (in_.bo)
        complain("an output bias without an output weight", in_.bo->where, "--wo", "none");
      return;
    }
    sizes_.has_wo = true;
    if (!require_rank(in_.wo, {2}, "wo of rank 2, (H·Dv,E) or (E,H·Dv)")) return;
    const WeightOrder order = find_weight_orders(in_, settings_).wo;
    const Shape& shape = shape_of(in_.wo);
    const std::size_t in_axis = order == WeightOrder::in_out ? 0 : 1;
    if (shape[in_axis] != width) {
      const bool other_fits = shape[1 - in_axis] == width;
      complain("output weight does not fit the heads", axis_of(in_.wo, in_axis, "H·Dv"),
               std::to_string(width) + " = " + std::to_string(sizes_.H) +
                   " heads of Dv = " + std::to_string(sizes_.Dv),
               std::to_string(shape[in_axis]) + " in " + shape_text(shape),
               other_fits ? std::string("the other axis fits: --weight-order ") +
                                (in_axis == 0 ? "out-in" : "in-out")
                          : "");
      return;
    }
    sizes_.E_out = shape[1 - in_axis];
    bias(in_.bo, "E", sizes_.E_out, in_.wo);
  }

  void cache() {
    if (!in_.past_k && !in_.past_v) return;
    if (!in_.past_k || !in_.past_v) {
      const Maybe& one = in_.past_k ? in_.past_k : in_.past_v;
      complain("half a cache", one->where, "past keys and past values together",
               in_.past_k ? "no --past-v" : "no --past-k");
      return;
    }
    const std::string shape = sizes_.has_batch ? "(B,G,P," : "(G,P,";
    const std::size_t rank = sizes_.has_batch ? 4 : 3;
    if (!require_rank(in_.past_k, {rank}, shape + "D)") |
        !require_rank(in_.past_v, {rank}, shape + "Dv)"))
      return;
    sizes_.P = shape_of(in_.past_k)[rank - 2];
    sizes_.S += sizes_.P;
    for (const auto& [named, width, symbol] :
         {std::tuple{&in_.past_k, sizes_.D, "D"}, std::tuple{&in_.past_v, sizes_.Dv, "Dv"}}) {
      Shape wanted = {sizes_.G, sizes_.P, width};
      if (sizes_.has_batch) wanted.insert(wanted.begin(), sizes_.B);
      if (shape_of(*named) == wanted) continue;
      complain("cache does not fit", (*named)->where + ", " + shape + symbol + ")",
               shape_text(wanted) + " with B, G and " + symbol + " as in the new " +
                   (named == &in_.past_k ? "keys" : "values") +
                   (named == &in_.past_k ? "" : " and P as in " + origin(in_.past_k)),
               shape_text(shape_of(*named)));
    }
  }

  void rope() {
    if (!settings_.rope_base) {
      if (settings_.rope_dim)
        complain("a rotary width without rotation", "--rope-dim", "--rope BASE", "none");
      if (in_.position || settings_.first_position) {
        complain("positions without rotation", in_.position ? in_.position->where : "--position",
                 "--rope BASE", "none");
      }
      return;
    }
    const std::size_t rope_dim = settings_.rope_dim.value_or(sizes_.D);
    if (rope_dim % 2 == 0 && rope_dim > 0 && rope_dim <= sizes_.D) return;
    complain("rotary width does not fit", settings_.rope_dim ? "--rope-dim" : "--rope",
             "an even number from 2 to D = " + std::to_string(sizes_.D), std::to_string(rope_dim),
             settings_.rope_dim
                 ? ""
                 : "channels rotate in pairs: --rope-dim N rotates the first N only");
  }

  void require_position_shape() {
    if (!in_.position) return;
    const Shape& shape = shape_of(in_.position);
    if (is_float(in_.position->array.dtype) || in_.position->array.dtype == DType::boolean) {
      complain("positions are no integers", in_.position->where, "an integer type",
               std::string(name(in_.position->array.dtype)));
    }
    if (shape == Shape{sizes_.L} || shape == Shape{1, sizes_.L} ||
        shape == Shape{sizes_.B, sizes_.L})
      return;
    complain("positions do not fit the queries", in_.position->where,
             shape_text({sizes_.L}) + " or " + shape_text({sizes_.B, sizes_.L}) + ", (L) or (B,L)",
             shape_text(shape));
  }

  const Inputs& in_;
  const Settings& settings_;
  Sizes sizes_;
  Complaints complaints_;
};

}  // namespace

Sizes find_sizes(const Inputs& inputs, const Settings& settings) {
  return Finder(inputs, settings).find();
}

}  // namespace qkv

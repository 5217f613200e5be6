// Sizes: the value of every axis symbol, found from shapes alone; complains of every shape that
// does not fit.
#include "qkv/attention/sizes.hpp"

#include "qkv/attention/mask_shape.hpp"
#include "size_finder.hpp"

namespace qkv {

Sizes SizeFinder::find() {
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
  extras();
  complaints_.throw_if_any();
  sizes_.has_heads = sizes_.H > 1 || sizes_.rank_four;
  require_mask_shapes(in_, settings_, sizes_, complaints_);
  require_position_shape();
  complaints_.throw_if_any();
  return sizes_;
}

void SizeFinder::require_one_way_in() {
  const bool any_qkv = in_.q || in_.k || in_.v;
  if (!in_.x && !any_qkv) {
    complain("no input", in_.context ? "--context" : "", "X, a bundle folder, or --q, --k and --v",
             in_.context ? "a context alone" : "none of them");
    return;
  }
  if (in_.x && any_qkv) {
    const MaybeArray& first = in_.q ? in_.q : in_.k ? in_.k : in_.v;
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
    complain("a context without X", in_.context->where, "X, which makes the queries", "q, k and v");
}

void SizeFinder::require_weights() {
  const bool any_single = in_.wq || in_.wk || in_.wv;
  if (in_.wqkv && any_single) {
    const MaybeArray& single = in_.wq ? in_.wq : in_.wk ? in_.wk : in_.wv;
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

void SizeFinder::require_groups() {
  if (sizes_.H == 0 || sizes_.G == 0) {
    complain("no heads", sizes_.projects ? "--heads" : in_.q->where, "at least 1", "0");
  } else if (sizes_.H % sizes_.G != 0) {
    complain("query heads are no multiple of key/value heads",
             sizes_.rank_four ? in_.k->where + ", G" : "--kv-heads",
             "a divisor of H = " + std::to_string(sizes_.H) +
                 (sizes_.rank_four ? " as in " + origin(in_.q) : " as in --heads"),
             std::to_string(sizes_.G));
  } else if (sizes_.D == 0) {
    complain("head width is 0", sizes_.projects ? "wq" : in_.q->where, "at least one channel", "0");
  }
  complaints_.throw_if_any();
}

void SizeFinder::output_weight() {
  const std::size_t width = sizes_.H * sizes_.Dv;
  sizes_.E_out = width;
  if (!in_.wo) {
    if (in_.bo) complain("an output bias without an output weight", in_.bo->where, "--wo", "none");
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

void SizeFinder::cache() {
  sizes_.cache_has_batch = sizes_.has_batch;
  if (!in_.past_k && !in_.past_v) return;
  if (!in_.past_k || !in_.past_v) {
    const MaybeArray& one = in_.past_k ? in_.past_k : in_.past_v;
    complain("half a cache", one->where, "past keys and past values together",
             in_.past_k ? "no --past-v" : "no --past-k");
    return;
  }
  // Without a batch axis the cache may still bring one of its own, of length 1.
  sizes_.cache_has_batch = sizes_.has_batch || shape_of(in_.past_k).size() == 4;
  const std::string shape = sizes_.cache_has_batch ? "(B,G,P," : "(G,P,";
  const std::size_t rank = sizes_.cache_has_batch ? 4 : 3;
  const bool k_fits = require_rank(in_.past_k, {rank}, shape + "D)");
  const bool v_fits = require_rank(in_.past_v, {rank}, shape + "Dv)");
  if (!k_fits || !v_fits) return;
  sizes_.P = shape_of(in_.past_k)[rank - 2];
  sizes_.S += sizes_.P;
  one_cache(in_.past_k, sizes_.D, shape + "D)", "B, G and D as in the new keys");
  one_cache(in_.past_v, sizes_.Dv, shape + "Dv)",
            "B, G and Dv as in the new values, P as in " + origin(in_.past_k));
}

void SizeFinder::one_cache(const MaybeArray& named, std::size_t width, const std::string& symbols,
                           const std::string& set_by) {
  Shape wanted = {sizes_.G, sizes_.P, width};
  if (sizes_.cache_has_batch) wanted.insert(wanted.begin(), sizes_.B);
  if (shape_of(named) == wanted) return;
  complain("cache does not fit", named->where + ", " + symbols,
           shape_text(wanted) + " with " + set_by, shape_text(shape_of(named)));
}

void SizeFinder::rope() {
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
  complain(
      "rotary width does not fit", settings_.rope_dim ? "--rope-dim" : "--rope",
      "an even number from 2 to D = " + std::to_string(sizes_.D), std::to_string(rope_dim),
      settings_.rope_dim ? "" : "channels rotate in pairs: --rope-dim N rotates the first N only");
}

void SizeFinder::extras() {
  if (in_.sinks && shape_of(in_.sinks) != Shape{sizes_.H}) {
    complain("sinks do not fit the heads", in_.sinks->where + ", (H)",
             shape_text({sizes_.H}) + ", one logit a query head", shape_text(shape_of(in_.sinks)));
  }
  for (const auto& [gain, flag] : {std::pair{&in_.q_norm, "--q-norm"}, {&in_.k_norm, "--k-norm"}}) {
    if (!*gain) continue;
    if (!settings_.qk_norm) {
      complain("a gain without a normalisation", flag, "--qk-norm rms, layer or l2", "none");
    } else if (shape_of(*gain) != Shape{sizes_.D}) {
      complain("gain does not fit the head width", (*gain)->where + ", (D)",
               shape_text({sizes_.D}) + ", one number a channel of a head",
               shape_text(shape_of(*gain)));
    }
  }
}

void SizeFinder::require_position_shape() {
  if (!in_.position) return;
  const Shape& shape = shape_of(in_.position);
  if (is_float(in_.position->array.dtype) || in_.position->array.dtype == DType::boolean) {
    complain("positions are no integers", in_.position->where, "an integer type",
             std::string(name(in_.position->array.dtype)));
  }
  if (shape == Shape{sizes_.L} || shape == Shape{1, sizes_.L} || shape == Shape{sizes_.B, sizes_.L})
    return;
  complain("positions do not fit the queries", in_.position->where,
           shape_text({sizes_.L}) + " or " + shape_text({sizes_.B, sizes_.L}) + ", (L) or (B,L)",
           shape_text(shape));
}

Sizes find_sizes(const Inputs& inputs, const Settings& settings) {
  return SizeFinder(inputs, settings).find();
}

}  // namespace qkv

// Sizes from q, k and v as given.
#include "size_finder.hpp"

namespace qkv {

void SizeFinder::from_qkv() {
  const std::size_t rank = shape_of(in_.q).size();
  const std::string ranks = "(L,D), (B,L,H·D) or (B,H,L,D)";
  if (!require_rank(in_.q, {2, 3, 4}, "q of shape " + ranks)) return;
  const std::string same = "rank " + std::to_string(rank) + " as in " + origin(in_.q);
  const bool k_fits = require_rank(in_.k, {rank}, same), v_fits = require_rank(in_.v, {rank}, same);
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

void SizeFinder::same_axis(const MaybeArray& named, std::size_t axis, const std::string& symbol,
                           std::size_t wanted) {
  const std::size_t got = shape_of(named)[axis];
  if (got == wanted) return;
  complain(symbol == "B" ? "batch differs from q" : symbol + " differs from q",
           axis_of(named, axis, symbol), std::to_string(wanted) + " as in " + origin(in_.q),
           std::to_string(got) + " in " + shape_text(shape_of(named)));
}

void SizeFinder::from_rank_four() {
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

std::string SizeFinder::layout_hint(const Shape& shape) const {
  const std::size_t other = settings_.layout == Layout::bhld ? 2 : 1;
  if (settings_.heads != 1 && shape[other] == settings_.heads)
    return std::string("axis ") + std::to_string(other) + " fits: --layout " +
           (other == 2 ? "blhd" : "bhld");
  return {};
}

void SizeFinder::from_merged_heads(std::size_t rank) {
  const std::size_t last = rank - 1, length_axis = rank - 2;
  sizes_.L = shape_of(in_.q)[length_axis];
  sizes_.S = shape_of(in_.k)[length_axis];
  sizes_.D = split(shape_of(in_.q)[last], sizes_.H, in_.q, "H·D", "--heads");
  sizes_.Dv = split(shape_of(in_.v)[last], sizes_.G, in_.v, "G·Dv", kv_flag());
  if (sizes_.D == 0 && shape_of(in_.q)[last] != 0) return;
  head_width(last, shape_of(in_.k)[last], length_axis);
  key_count(length_axis);
}

void SizeFinder::head_width(std::size_t axis, std::size_t got, std::size_t length_axis) {
  const bool merged = axis < 3 && sizes_.G > 1;
  const std::size_t wanted = axis < 3 ? sizes_.G * sizes_.D : sizes_.D;
  if (got == wanted) return;
  const Shape& k = shape_of(in_.k);
  std::string hint = axis < 3 ? grouped_hint(got) : std::string();
  if (hint.empty() && axis < 3) hint = thirds_hint(axis);
  if (hint.empty()) hint = reversed_hint();
  if (hint.empty() && k[length_axis] == wanted) {
    hint = "axes " + std::to_string(length_axis) + " and " + std::to_string(axis) + " of " +
           in_.k->where + " look exchanged: is it already transposed?";
  }
  complain("head width differs from q", axis_of(in_.k, axis, merged ? "G·D" : "D"),
           std::to_string(wanted) + " as in " + origin(in_.q),
           std::to_string(got) + " in " + shape_text(k), hint);
}

std::string SizeFinder::thirds_hint(std::size_t axis) const {
  const std::size_t width = shape_of(in_.q)[axis], H = sizes_.H, G = sizes_.G;
  const bool equal = shape_of(in_.k)[axis] == width && shape_of(in_.v)[axis] == width;
  if (!equal || G == H || 3 * width % (H + 2 * G) != 0) return {};
  const std::size_t D = 3 * width / (H + 2 * G);
  const std::string kv = std::to_string(G * D);
  return "q, k and v look like equal thirds of a fused width of " + std::to_string(3 * width) +
         ": with " + std::to_string(H) + " heads and " + std::to_string(G) +
         " key/value heads the widths are " + std::to_string(H * D) + ", " + kv + " and " + kv;
}

std::string SizeFinder::reversed_hint() const {
  const Shape &q = shape_of(in_.q), &k = shape_of(in_.k);
  if (q.size() < 3 || k.front() != q.back() || k.back() != q.front()) return {};
  return "all axes of " + in_.k->where + " look reversed: give it as " +
         shape_text({k.rbegin(), k.rend()}) + "; q·kᵀ exchanges the last two axes only";
}

std::string SizeFinder::repeated_hint(std::size_t length_axis) const {
  const std::size_t keys = shape_of(in_.k)[length_axis], values = shape_of(in_.v)[length_axis];
  const bool by_group =
      values > 0 && sizes_.G > 0 && sizes_.H > sizes_.G && keys * sizes_.G == values * sizes_.H;
  if (!by_group) return {};
  return in_.k->where + " looks repeated along axis " + std::to_string(length_axis) +
         ", the positions: heads need not be repeated, query head h reads key/value head h / " +
         std::to_string(sizes_.H / sizes_.G);
}

void SizeFinder::key_count(std::size_t length_axis) {
  const std::size_t keys = shape_of(in_.k)[length_axis], values = shape_of(in_.v)[length_axis];
  if (keys == values) return;
  const std::string repeated = repeated_hint(length_axis);
  complain("keys and values differ in number", axis_of(in_.v, length_axis, "S"),
           std::to_string(keys) + " as in " + origin(in_.k),
           std::to_string(values) + " in " + shape_text(shape_of(in_.v)),
           repeated.empty() ? "each key needs its value: attn (L,S) is multiplied with v (S,Dv)"
                            : repeated);
}

}  // namespace qkv

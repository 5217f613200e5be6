// Sizes of a block: those of its attention, the width of the feed-forward, and what must fit them.
#include "qkv/base/error.hpp"
#include "qkv/base/text.hpp"
#include "qkv/block/problem.hpp"

namespace qkv {

namespace {

using MaybeArray = std::optional<NamedArray>;

class BlockSizeFinder {
 public:
  BlockSizeFinder(const Inputs& inputs, const BlockInputs& block, const Settings& settings,
                  const BlockSettings& block_settings)
      : in_(inputs), block_(block), settings_(settings), block_settings_(block_settings) {}

  BlockSizes find() {
    require_self_attention();
    complaints_.throw_if_any();
    const BlockOrders orders = find_block_orders(in_, block_, settings_);
    Settings settings = settings_;
    settings.weight_order = orders.attention;
    require_weights();
    complaints_.throw_if_any();
    sizes_.attention = find_sizes(in_, settings);
    require_residual();
    norms();
    feed_forward(orders);
    complaints_.throw_if_any();
    return sizes_;
  }

 private:
  void complain(std::string what, std::string where, std::string expected, std::string got,
                std::string hint = {}) {
    complaints_.add(
        {std::move(what), std::move(where), std::move(expected), std::move(got), std::move(hint)});
  }

  static std::string origin(const NamedArray& named) {
    return named.where + " " + shape_text(named.array.shape);
  }

  void require_self_attention() {
    if (in_.context) {
      complain("a context in an encoder block", in_.context->where,
               "x alone: the block attends to its own input", "--context",
               "qkv trace computes cross-attention");
    }
    const MaybeArray& given = in_.q ? in_.q : in_.k ? in_.k : in_.v;
    if (given) {
      complain("a block without X", given->where, "X, which the residual is taken from",
               "q, k or v that were projected already");
    } else if (!in_.x) {
      complain("no input", "", "X or a bundle folder", "none of them");
    }
  }

  void require_weights() {
    std::vector<std::string> missing;
    const auto need = [&](const MaybeArray& weight, const char* name) {
      if (!weight) missing.emplace_back(name);
    };
    if (!in_.wqkv) {
      need(in_.wq, "wq");
      need(in_.wk, "wk");
      need(in_.wv, "wv");
    }
    need(block_.ff_w1, "ff_w1");
    need(block_.ff_w2, "ff_w2");
    if (missing.empty()) return;
    complain("missing weights", in_.x->where,
             "wq, wk and wv (or wqkv) of the attention, ff_w1 and ff_w2 of the feed-forward",
             "no " + listed(missing), "give -w DIR, or --wq FILE, --ff-w1 FILE and so on");
  }

  void require_residual() {
    const Sizes& sizes = sizes_.attention;
    if (sizes.E_out == sizes.E) return;
    complain("the attention's output does not fit the residual",
             in_.wo ? in_.wo->where + ", E" : "H·Dv, without wo",
             std::to_string(sizes.E) + " as in " + origin(*in_.x), std::to_string(sizes.E_out),
             in_.wo ? "" : "give the output weight: --wo FILE");
  }

  void norms() {
    const std::pair<const MaybeArray*, bool> weights[] = {{&block_.norm1_w, false},
                                                          {&block_.norm1_b, true},
                                                          {&block_.norm2_w, false},
                                                          {&block_.norm2_b, true}};
    for (const auto& [weight, is_bias] : weights) {
      if (!*weight) continue;
      if (is_bias && block_settings_.kind == NormKind::rms) {
        complain("a bias for an RMS norm", (*weight)->where, "none: an RMS norm has a gain only",
                 shape_text((*weight)->array.shape), "--norm-kind layer has a bias");
        continue;
      }
      vector(**weight, is_bias ? "norm bias" : "norm gain", "E", sizes_.attention.E,
             origin(*in_.x));
    }
  }

  void vector(const NamedArray& named, const std::string& name, const std::string& symbol,
              std::size_t width, const std::string& set_by) {
    if (named.array.shape == Shape{width}) return;
    complain(name + " does not fit", named.where + ", (" + symbol + ")",
             shape_text({width}) + " with " + symbol + " as in " + set_by,
             shape_text(named.array.shape));
  }

  /// The width that the weight makes; 0 where it does not fit what it is applied to.
  std::size_t matrix(const NamedArray& named, const std::string& name, WeightOrder order,
                     std::size_t in, const std::string& symbol, const std::string& set_by) {
    const Shape& shape = named.array.shape;
    if (shape.size() != 2) {
      complain("wrong rank", named.where, name + " of rank 2, (in,out) or (out,in)",
               shape_text(shape));
      return 0;
    }
    const std::size_t in_axis = order == WeightOrder::out_in ? 1 : 0;
    if (shape[in_axis] != in) {
      const bool other_fits =
          shape[1 - in_axis] == in && settings_.weight_order != WeightOrder::automatic;
      complain("weight does not fit what it is applied to",
               named.where + ", axis " + std::to_string(in_axis) + ", " + symbol,
               std::to_string(in) + " as in " + set_by,
               std::to_string(shape[in_axis]) + " in " + shape_text(shape),
               other_fits ? std::string("the other axis fits: --weight-order ") +
                                (in_axis == 0 ? "out-in" : "in-out")
                          : "");
      return 0;
    }
    if (shape[1 - in_axis] == 0)
      complain("empty weight", named.where, "at least one column", shape_text(shape));
    return shape[1 - in_axis];
  }

  void feed_forward(const BlockOrders& orders) {
    const std::size_t E = sizes_.attention.E;
    const std::string x = origin(*in_.x), w1 = origin(*block_.ff_w1);
    sizes_.F = matrix(*block_.ff_w1, "ff_w1", orders.w1, E, "E", x);
    if (sizes_.F == 0) return;
    if (block_.ff_w3) {
      const std::size_t width = matrix(*block_.ff_w3, "ff_w3", orders.w3, E, "E", x);
      if (width != 0 && width != sizes_.F) {
        complain("the factor of the gated feed-forward differs in width",
                 block_.ff_w3->where + ", F", std::to_string(sizes_.F) + " as in " + w1,
                 std::to_string(width) + " in " + shape_text(block_.ff_w3->array.shape));
      }
    }
    const std::size_t width = matrix(*block_.ff_w2, "ff_w2", orders.w2, sizes_.F, "F", w1);
    if (width != 0 && width != E) {
      complain("the feed-forward's output does not fit the residual", block_.ff_w2->where + ", E",
               std::to_string(E) + " as in " + x,
               std::to_string(width) + " in " + shape_text(block_.ff_w2->array.shape));
    }
    if (block_.ff_b1) vector(*block_.ff_b1, "bias", "F", sizes_.F, w1);
    if (block_.ff_b2) vector(*block_.ff_b2, "bias", "E", E, x);
  }

  const Inputs& in_;
  const BlockInputs& block_;
  const Settings& settings_;
  const BlockSettings& block_settings_;
  BlockSizes sizes_;
  Complaints complaints_;
};

}  // namespace

BlockSizes find_block_sizes(const Inputs& inputs, const BlockInputs& block,
                            const Settings& settings, const BlockSettings& block_settings) {
  return BlockSizeFinder(inputs, block, settings, block_settings).find();
}

}  // namespace qkv

// The stages of a block: id, formula, axes and source of each.
#include "qkv/block/stage_list.hpp"

#include <string>

#include "qkv/base/text.hpp"

namespace qkv {

namespace {

constexpr StageInfo stages[] = {
    {"norm1", "norm(x) or norm(res1)",
     "what attention works on (pre), or the first half of the block, normalised (post)"},
    {"res1", "x + out", "the input with the attention's result added"},
    {"norm2", "norm(res1) or norm(res2)",
     "what the feed-forward works on (pre), or the block's result (post)"},
    {"ff1", "·W1 + b1", "the feed-forward's inner layer, before the activation"},
    {"ff_act", "act(ff1)", "the inner layer, bent by the activation"},
    {"ff3", "·W3", "the factor of a gated feed-forward"},
    {"ff_gated", "ff_act×ff3", "the inner layer times its factor, element by element"},
    {"ff2", "·W2 + b2", "the feed-forward's result"},
    {"res2", "+ ff2", "the feed-forward's input to the residual with its result added"},
    {"block_out", "res2 or norm2", "the block's result"},
};

const char* text_of(Activation activation) {
  switch (activation) {
    case Activation::relu:
      return "relu";
    case Activation::gelu:
      return "gelu";
    case Activation::gelu_tanh:
      return "gelu_tanh";
    case Activation::silu:
      return "silu";
  }
  return "";
}

class BlockLister {
 public:
  BlockLister(const BlockInputs& block, const BlockSettings& settings, const BlockSizes& sizes,
              const BlockOrders& orders)
      : block_(block), settings_(settings), sizes_(sizes), orders_(orders) {}

  std::vector<StageShape> list(const std::vector<StageShape>& attention) {
    const bool pre = settings_.order == NormOrder::pre;
    stages_.push_back(attention.front());  // x
    if (pre) norm("norm1", "x", block_.norm1_w, block_.norm1_b);
    for (std::size_t n = 1; n < attention.size(); ++n) {
      StageShape stage = attention[n];
      // What is projected is the stage before it.
      const std::size_t from = stage.is.find("x·W");
      if (pre && from != std::string::npos) stage.is.replace(from, 1, "norm1");
      stages_.push_back(std::move(stage));
    }
    wide("res1", "x + out");
    if (pre) {
      norm("norm2", "res1", block_.norm2_w, block_.norm2_b);
      feed_forward("norm2");
      wide("res2", "res1 + ff2");
      wide("block_out", "res2");
    } else {
      norm("norm1", "res1", block_.norm1_w, block_.norm1_b);
      feed_forward("norm1");
      wide("res2", "norm1 + ff2");
      norm("norm2", "res2", block_.norm2_w, block_.norm2_b);
      wide("block_out", "norm2");
    }
    return std::move(stages_);
  }

 private:
  /// (B,L,width)
  void add(std::string id, std::string is, std::size_t width, std::string symbol) {
    StageShape stage{std::move(id), std::move(is), {}, {}};
    if (sizes_.attention.has_batch) {
      stage.shape.push_back(sizes_.attention.B);
      stage.dims.emplace_back("B");
    }
    stage.shape.insert(stage.shape.end(), {sizes_.attention.L, width});
    stage.dims.emplace_back("L");
    stage.dims.push_back(std::move(symbol));
    stages_.push_back(std::move(stage));
  }
  void wide(std::string id, std::string is) {
    add(std::move(id), std::move(is), sizes_.attention.E, "E");
  }
  void inner(std::string id, std::string is) { add(std::move(id), std::move(is), sizes_.F, "F"); }

  void norm(const std::string& id, const std::string& from, const std::optional<NamedArray>& gain,
            const std::optional<NamedArray>& bias) {
    std::string is = (settings_.kind == NormKind::layer ? "layer(" : "rms(") + from + ")";
    if (gain) is += "·g";
    if (bias) is += " + b";
    wide(id, is);
  }

  static std::string projected(const std::string& from, const std::string& digit, WeightOrder order,
                               bool biased) {
    return from + "·W" + digit + (order == WeightOrder::out_in ? "ᵀ" : "") +
           (biased ? " + b" + digit : "");
  }

  void feed_forward(const std::string& from) {
    inner("ff1", projected(from, "1", orders_.w1, block_.ff_b1.has_value()));
    inner("ff_act", std::string(text_of(settings_.activation)) + "(ff1)");
    if (block_.ff_w3) {
      inner("ff3", projected(from, "3", orders_.w3, false));
      inner("ff_gated", "ff_act×ff3");
    }
    wide("ff2", projected(block_.ff_w3 ? "ff_gated" : "ff_act", "2", orders_.w2,
                          block_.ff_b2.has_value()));
  }

  const BlockInputs& block_;
  const BlockSettings& settings_;
  const BlockSizes& sizes_;
  const BlockOrders& orders_;
  std::vector<StageShape> stages_;
};

}  // namespace

std::span<const StageInfo> block_stage_list() { return stages; }

std::vector<StageShape> block_stage_shapes(const Inputs& inputs, const BlockInputs& block,
                                           const Settings& settings,
                                           const BlockSettings& block_settings,
                                           const BlockSizes& sizes) {
  const BlockOrders orders = find_block_orders(inputs, block, settings);
  Settings of_attention = settings;
  of_attention.weight_order = orders.attention;
  return BlockLister(block, block_settings, sizes, orders)
      .list(stage_shapes(inputs, of_attention, sizes.attention));
}

}  // namespace qkv

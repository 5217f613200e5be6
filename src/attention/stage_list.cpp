// The stages: id, formula, axes and source of each, in the order of the computation.
#include "qkv/attention/stage_list.hpp"

#include <cmath>

#include "qkv/attention/presets.hpp"
#include "qkv/base/text.hpp"

namespace qkv {

namespace {

constexpr StageInfo stages[] = {
    {"x", "input",
     "the sequence that the queries, and without a context the keys and values, are made from"},
    {"context", "input",
     "the other sequence of cross-attention, which keys and values are made from"},
    {"q", "x·Wq + bq", "queries: what each position looks for"},
    {"k", "x·Wk + bk",
     "keys: what each position offers to be found by (the new ones, without the cache)"},
    {"v", "x·Wv + bv",
     "values: what each position hands over when it is found (the new ones, without the cache)"},
    {"q_norm", "norm(q)", "queries brought to one size, head by head"},
    {"k_norm", "norm(k)", "new keys brought to one size, head by head"},
    {"q_rope", "rope(q)", "queries rotated by their positions"},
    {"k_rope", "rope(k)", "new keys rotated by their positions"},
    {"scores", "q·kᵀ", "how well each query fits each key, those of the cache first"},
    {"scaled", "scores/√D", "scores brought to a variance of about 1"},
    {"capped", "C·tanh(scaled/C)", "logits bent smoothly into (-C, C)"},
    {"masked", "scaled where visible, else fill",
     "logits with the hidden ones replaced and float masks added"},
    {"attn", "softmax(masked)", "weight of each key for each query; rows sum to 1"},
    {"dropped", "attn/(1 - p) or 0", "weights after dropout, as in training"},
    {"heads", "attn·v", "each query's weighted mean of the values, by head"},
    {"concat", "heads side by side", "the heads concatenated"},
    {"out", "concat·Wo + bo", "the result"},
};

/// "x·Wqᵀ + bq"
std::string projected(const std::string& from, const std::string& role, bool out_in, bool biased) {
  return from + "·W" + role + (out_in ? "ᵀ" : "") + (biased ? " + b" + role : "");
}

std::string scale_text(const Settings& settings, const Sizes& sizes) {
  if (settings.scale) return "scores·" + short_number(*settings.scale);
  if (settings.temperature) return "scores/" + short_number(*settings.temperature);
  return "scores·" + short_number(1.0 / std::sqrt(static_cast<double>(sizes.D)));
}

std::string masked_text(const Inputs& inputs, const Settings& settings, const std::string& before) {
  const bool adds = inputs.mask && mask_is_added(*inputs.mask, settings);
  std::string text = adds ? before + " + mask" : before;
  if (settings.alibi) text += " - slope·|i-j|";
  const bool hides = settings.causal || settings.window || inputs.key_padding || inputs.lengths ||
                     (inputs.mask && !adds);
  if (!hides) return text;
  const std::string fill = settings.fill.kind == Fill::Kind::number
                               ? short_number(settings.fill.number)
                           : settings.fill.kind == Fill::Kind::lowest ? "min"
                                                                      : "-inf";
  return text + " or " + fill;
}

std::string norm_name(QkNorm kind) {
  return kind == QkNorm::rms ? "rms" : kind == QkNorm::layer ? "layer" : "l2";
}

class Lister {
 public:
  Lister(const Inputs& inputs, const Settings& settings, const Sizes& sizes)
      : inputs_(inputs), settings_(settings), sizes_(sizes) {}

  std::vector<StageShape> list() {
    if (sizes_.projects) {
      flat("x", "input", sizes_.L, "L", sizes_.E, "E");
      if (sizes_.has_context)
        flat("context", "input", sizes_.S - sizes_.P, "S", sizes_.E_context, "E'");
      projections();
    } else {
      heads("q", "input", sizes_.H, "H", sizes_.L, "L", sizes_.D, "D");
      new_keys("k", "input", sizes_.D, "D");
      new_keys("v", "input", sizes_.Dv, "Dv");
    }
    std::string queries = "q", own_keys = "k";
    if (settings_.qk_norm) prepare("_norm", norm_name(*settings_.qk_norm), queries, own_keys);
    if (settings_.rope_base) prepare("_rope", "rope", queries, own_keys);
    const std::string keys = sizes_.P > 0 ? "[past, " + own_keys + "]" : own_keys;
    square("scores", queries + "·" + keys + "ᵀ");
    square("scaled", scale_text(settings_, sizes_));
    std::string logits = "scaled";
    if (settings_.softcap) {
      const std::string cap = short_number(*settings_.softcap);
      square("capped", cap + "·tanh(scaled/" + cap + ")");
      logits = "capped";
    }
    if (has_masked_stage(inputs_, settings_)) {
      square("masked", masked_text(inputs_, settings_, logits));
      logits = "masked";
    }
    square("attn", inputs_.sinks ? "softmax(" + logits + ", sinks)" : "softmax(" + logits + ")");
    std::string weights = "attn";
    if (settings_.dropout) {
      weights = "dropped";
      square("dropped", *settings_.dropout < 1
                            ? "attn/" + short_number(1 - *settings_.dropout) + " or 0"
                            : "0");
    }
    output(weights + (sizes_.P > 0 ? "·[past, v]" : "·v"));
    return std::move(stages_);
  }

 private:
  void add(std::string id, std::string is, std::vector<std::pair<std::size_t, std::string>> axes) {
    StageShape stage{std::move(id), std::move(is), {}, {}};
    for (auto& [size, symbol] : axes) {
      stage.shape.push_back(size);
      stage.dims.push_back(std::move(symbol));
    }
    stages_.push_back(std::move(stage));
  }

  using Axes = std::vector<std::pair<std::size_t, std::string>>;
  Axes batch() const { return sizes_.has_batch ? Axes{{sizes_.B, "B"}} : Axes{}; }

  /// (B,L,E), a stage without heads
  void flat(std::string id, std::string is, std::size_t length, std::string length_symbol,
            std::size_t width, std::string symbol) {
    Axes axes = batch();
    axes.emplace_back(length, std::move(length_symbol));
    axes.emplace_back(width, std::move(symbol));
    add(std::move(id), std::move(is), std::move(axes));
  }
  /// (B,H,L,D)
  void heads(std::string id, std::string is, std::size_t count, std::string head_symbol,
             std::size_t length, std::string length_symbol, std::size_t width, std::string symbol) {
    Axes axes = batch();
    if (sizes_.has_heads) axes.emplace_back(count, std::move(head_symbol));
    axes.emplace_back(length, std::move(length_symbol));
    axes.emplace_back(width, std::move(symbol));
    add(std::move(id), std::move(is), std::move(axes));
  }
  void new_keys(std::string id, std::string is, std::size_t width, std::string symbol) {
    heads(std::move(id), std::move(is), sizes_.G, "G", sizes_.new_keys(),
          sizes_.P > 0 ? "S-P" : "S", width, std::move(symbol));
  }
  /// (B,H,L,S)
  void square(std::string id, std::string is) {
    heads(std::move(id), std::move(is), sizes_.H, "H", sizes_.L, "L", sizes_.S, "S");
  }

  /// A step that q and k both take before the scores; `queries` and `keys` become its stages.
  void prepare(const std::string& ending, const std::string& function, std::string& queries,
               std::string& keys) {
    heads("q" + ending, function + "(" + queries + ")", sizes_.H, "H", sizes_.L, "L", sizes_.D,
          "D");
    new_keys("k" + ending, function + "(" + keys + ")", sizes_.D, "D");
    queries = "q" + ending;
    keys = "k" + ending;
  }

  void projections() {
    const WeightOrders orders = find_weight_orders(inputs_, settings_);
    const std::string from = sizes_.has_context ? "context" : "x";
    if (inputs_.wqkv) {
      const std::string fused =
          projected("x", "qkv", orders.wqkv == WeightOrder::out_in, inputs_.bqkv.has_value());
      heads("q", "q of " + fused, sizes_.H, "H", sizes_.L, "L", sizes_.D, "D");
      new_keys("k", "k of " + fused, sizes_.D, "D");
      new_keys("v", "v of " + fused, sizes_.Dv, "Dv");
      return;
    }
    heads("q", projected("x", "q", orders.wq == WeightOrder::out_in, inputs_.bq.has_value()),
          sizes_.H, "H", sizes_.L, "L", sizes_.D, "D");
    new_keys("k", projected(from, "k", orders.wk == WeightOrder::out_in, inputs_.bk.has_value()),
             sizes_.D, "D");
    new_keys("v", projected(from, "v", orders.wv == WeightOrder::out_in, inputs_.bv.has_value()),
             sizes_.Dv, "Dv");
  }

  void output(const std::string& weighted) {
    if (sizes_.rank_four && !sizes_.has_wo) {
      heads("heads", weighted, sizes_.H, "H", sizes_.L, "L", sizes_.Dv, "Dv");
      if (settings_.layout == Layout::bhld) {
        heads("out", "heads", sizes_.H, "H", sizes_.L, "L", sizes_.Dv, "Dv");
      } else {
        heads("out", "heads as (B,L,H,Dv)", sizes_.L, "L", sizes_.H, "H", sizes_.Dv, "Dv");
      }
      return;
    }
    if (sizes_.H == 1 && !sizes_.has_wo) {
      flat("out", weighted, sizes_.L, "L", sizes_.Dv, "Dv");
      return;
    }
    heads("heads", weighted, sizes_.H, "H", sizes_.L, "L", sizes_.Dv, "Dv");
    flat("concat", "heads side by side", sizes_.L, "L", sizes_.H * sizes_.Dv, "H·Dv");
    if (!sizes_.has_wo) {
      flat("out", "concat", sizes_.L, "L", sizes_.H * sizes_.Dv, "H·Dv");
      return;
    }
    const bool out_in = find_weight_orders(inputs_, settings_).wo == WeightOrder::out_in;
    flat("out", projected("concat", "o", out_in, inputs_.bo.has_value()), sizes_.L, "L",
         sizes_.E_out, "E");
  }

  const Inputs& inputs_;
  const Settings& settings_;
  const Sizes& sizes_;
  std::vector<StageShape> stages_;
};

}  // namespace

std::span<const StageInfo> stage_list() { return stages; }

bool has_masked_stage(const Inputs& inputs, const Settings& settings) {
  return settings.causal || settings.window || inputs.mask || inputs.key_padding ||
         inputs.lengths || settings.alibi;
}

std::vector<StageShape> stage_shapes(const Inputs& inputs, const Settings& settings,
                                     const Sizes& sizes) {
  return Lister(inputs, settings, sizes).list();
}

}  // namespace qkv

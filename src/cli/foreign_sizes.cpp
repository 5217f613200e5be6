// Sizes of foreign tensors.
#include "cli/foreign_sizes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "qkv/base/error.hpp"
#include "qkv/base/text.hpp"

namespace qkv::cli {

namespace {

using Named = std::vector<std::pair<std::string, const NamedArray*>>;

bool by_keys(const std::string& stage) {
  return stage == "attn" || stage == "masked" || stage == "capped" || stage == "scaled" ||
         stage == "scores";
}

/// The sizes known so far, with what set them.
class Finder {
 public:
  Finder(const Request& request, const Named& tensors) : request_(request), tensors_(tensors) {}

  Sizes find(std::optional<std::size_t> d_k) {
    for (const auto& [stage, named] : tensors_) require_rank(stage, *named);
    complaints_.throw_if_any();
    if (d_k) known_["D"] = {*d_k, "--d-k"};
    // attn and its like first: they settle B, H, L and S.
    for (const auto& [stage, named] : tensors_) {
      if (by_keys(stage)) stage_by_keys(*named);
    }
    learn_heads();
    for (const auto& [stage, named] : tensors_) {
      if (!by_keys(stage)) other_stage(stage, *named);
    }
    rules();
    complaints_.throw_if_any();
    return sizes();
  }

 private:
  struct Known {
    std::size_t size;
    std::string set_by;  ///< "attn.npy (2,4,5,7)"
  };

  void require_rank(const std::string& stage, const NamedArray& named) {
    const std::size_t rank = named.array.shape.size();
    if (rank >= 2 && rank <= 4) return;
    const std::string last = by_keys(stage) ? "S" : stage == "out" ? "E" : "D";
    complaints_.add({.what = "rank does not fit",
                     .where = named.where,
                     .expected = fmt::format("(L,{0}), (B,L,{0}) or (B,H,L,{0})", last),
                     .got = shape_text(named.array.shape)});
  }

  /// Takes a size, or complains where it is known to be another.
  void learn(const std::string& symbol, std::size_t size, const NamedArray& named,
             std::optional<std::size_t> axis, const std::string& hint = {}) {
    const auto [known, is_new] =
        known_.try_emplace(symbol, Known{size, named.where + " " + shape_text(named.array.shape)});
    if (is_new || known->second.size == size) return;
    const std::string place = axis ? fmt::format(", axis {}", *axis) : "";
    complaints_.add(
        {.what = symbol + " differs",
         .where = named.where + place + ", " + symbol,
         .expected = fmt::format("{} as in {}", known->second.size, known->second.set_by),
         .got = fmt::format("{} in {}", size, shape_text(named.array.shape)),
         .hint = hint});
  }

  void stage_by_keys(const NamedArray& named) {
    const Shape& shape = named.array.shape;
    const std::size_t rank = shape.size();
    const std::string averaged =
        "weights without a head axis are often the mean over the heads: ask for them by head "
        "(average_attn_weights=False)";
    if (rank > 2) {
      learn("B", shape[0], named, 0);
    } else {
      learn("B", 1, named, {});
    }
    if (rank == 4) {
      learn("H", shape[1], named, 1, known_.contains("H") && known_["H"].size == 1 ? averaged : "");
    } else {
      learn("H", 1, named, {}, averaged);
    }
    learn("L", shape[rank - 2], named, rank - 2);
    learn("S", shape[rank - 1], named, rank - 1);
    has_batch_ = has_batch_ || rank > 2;
    has_heads_ = has_heads_ || rank == 4;
  }

  std::size_t head_axis(const std::string& stage) const {
    const bool blhd = request_.settings.layout == Layout::blhd && stage != "heads";
    return blhd ? 2 : 1;
  }

  /// H and G where no stage has settled them: from tensors of rank 4, else from the flags.
  void learn_heads() {
    const Settings& settings = request_.settings;
    for (const auto& [stage, named] : tensors_) {
      const bool rank_four = !by_keys(stage) && named->array.shape.size() == 4;
      if (!rank_four) continue;
      const std::size_t axis = head_axis(stage);
      learn(stage == "k" || stage == "v" ? "G" : "H", named->array.shape[axis], *named, axis);
      has_heads_ = true;
    }
    const auto [heads, none] = known_.try_emplace("H", Known{settings.heads, "--heads"});
    if (!none && settings.heads != 1 && heads->second.size != settings.heads) {
      complaints_.add(
          {.what = "H differs",
           .where = "--heads",
           .expected = fmt::format("{} as in {}", heads->second.size, heads->second.set_by),
           .got = std::to_string(settings.heads)});
    }
    known_.try_emplace("G", Known{settings.kv_heads.value_or(heads->second.size), "--kv-heads"});
    if (known_["G"].size != 0 && heads->second.size % known_["G"].size == 0) return;
    complaints_.add({.what = "query heads are no multiple of key/value heads",
                     .where = known_["G"].set_by + ", G",
                     .expected = fmt::format("a divisor of {} as in {}", heads->second.size,
                                             heads->second.set_by),
                     .got = std::to_string(known_["G"].size)});
  }

  void other_stage(const std::string& stage, const NamedArray& named) {
    const Shape& shape = named.array.shape;
    const std::size_t rank = shape.size(), last = rank - 1;
    const std::size_t length_axis = rank == 4 ? 3 - head_axis(stage) : rank - 2;
    const bool of_keys = stage == "k" || stage == "v";
    if (rank > 2) {
      learn("B", shape[0], named, 0);
    } else {
      learn("B", 1, named, {});
    }
    learn(of_keys ? "S" : "L", shape[length_axis], named, length_axis);
    has_batch_ = has_batch_ || rank > 2;
    if (stage == "out") {
      out_width_ = shape[last];
      out_by_head_ = rank == 4;
      if (rank == 4) learn("Dv", shape[last], named, last);
      return;
    }
    const std::size_t heads = rank == 4          ? 1
                              : of_keys          ? known_["G"].size
                              : stage == "heads" ? 1
                                                 : known_["H"].size;
    if (stage == "heads" && rank < 4 && known_["H"].size > 1) {
      complaints_.add({.what = "heads has no head axis",
                       .where = named.where,
                       .expected = fmt::format("(B,H,L,Dv) with H = {} as in {}", known_["H"].size,
                                               known_["H"].set_by),
                       .got = shape_text(shape)});
      return;
    }
    if (heads == 0 || shape[last] % heads != 0) {
      complaints_.add({.what = "width is no multiple of the heads",
                       .where = fmt::format("{}, axis {}", named.where, last),
                       .expected = fmt::format("a multiple of {}", heads),
                       .got = fmt::format("{} in {}", shape[last], shape_text(shape))});
      return;
    }
    learn(stage == "v" || stage == "heads" ? "Dv" : "D", shape[last] / heads, named, last);
  }

  /// Without a tensor that says so, the mask and the padding give the sizes that they have.
  void rules() {
    const Inputs& inputs = request_.inputs;
    if (inputs.mask && !inputs.mask->array.shape.empty() && inputs.mask->array.shape.size() <= 4) {
      const Shape& shape = inputs.mask->array.shape;
      static constexpr const char* symbols[] = {"B", "H", "L", "S"};
      for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        const std::string symbol = symbols[axis + 4 - shape.size()];
        const bool heads = symbol == "H" && tensors_.empty();
        if (heads) {
          known_["H"] = known_["G"] = {shape[axis], inputs.mask->where};
        } else {
          known_.try_emplace(symbol, Known{shape[axis], inputs.mask->where});
        }
      }
    }
    if (inputs.key_padding && inputs.key_padding->array.shape.size() >= 2) {
      const Shape& shape = inputs.key_padding->array.shape;
      known_.try_emplace("B", Known{shape.front(), inputs.key_padding->where});
      known_.try_emplace("S", Known{shape.back(), inputs.key_padding->where});
      if (tensors_.empty()) has_batch_ = true;
    }
    const bool by_position = request_.settings.causal || request_.settings.window;
    if (by_position && (!known_.contains("L") || !known_.contains("S"))) {
      complaints_.add({.what = "queries and keys are not known",
                       .where = request_.settings.causal ? "--causal" : "--window",
                       .expected = "a tensor with L and S: --attn, --scores or --mask",
                       .got = "none"});
    }
  }

  std::size_t size_of(const std::string& symbol, std::size_t otherwise) const {
    const auto found = known_.find(symbol);
    return found == known_.end() ? otherwise : found->second.size;
  }

  Sizes sizes() const {
    Sizes sizes;
    sizes.B = size_of("B", 1);
    sizes.H = size_of("H", 1);
    sizes.G = size_of("G", sizes.H);
    sizes.S = size_of("S", 0);
    sizes.L = size_of("L", sizes.S > 0 ? 1 : 0);
    sizes.D = size_of("D", 0);
    sizes.Dv = size_of("Dv", 0);
    sizes.E_out = out_width_;
    sizes.has_batch = has_batch_;
    sizes.has_heads = has_heads_ || sizes.H > 1;
    sizes.rank_four = out_by_head_;
    // out is attn*v where one head makes it and the widths agree; else a W_O may stand between.
    sizes.has_wo = out_width_ > 0 && !out_by_head_ && (sizes.H > 1 || out_width_ != sizes.Dv);
    return sizes;
  }

  const Request& request_;
  const Named& tensors_;
  std::map<std::string, Known> known_;
  bool has_batch_ = false, has_heads_ = false, out_by_head_ = false;
  std::size_t out_width_ = 0;
  Complaints complaints_;
};

}  // namespace

Sizes foreign_sizes(const Request& request, const Named& tensors, std::optional<std::size_t> d_k) {
  return Finder(request, tensors).find(d_k);
}

std::vector<std::string> foreign_dims(const std::string& stage, std::size_t rank,
                                      const Sizes& sizes, Layout layout) {
  const bool of_keys = stage == "k" || stage == "v";
  const std::size_t heads = of_keys ? sizes.G : sizes.H;
  const std::string head = of_keys ? "G" : "H", length = of_keys ? "S" : "L";
  std::string width = by_keys(stage)                 ? "S"
                      : stage == "q" || stage == "k" ? "D"
                      : stage == "out" && rank < 4   ? "E"
                                                     : "Dv";
  const bool merged = rank < 4 && heads > 1 && (stage == "q" || of_keys);
  if (merged) width = head + "·" + width;
  std::vector<std::string> dims;
  if (rank > 2) dims.emplace_back("B");
  const bool blhd = layout == Layout::blhd && !by_keys(stage) && stage != "heads";
  if (rank == 4 && !blhd) dims.push_back(head);
  dims.push_back(length);
  if (rank == 4 && blhd) dims.push_back(head);
  dims.push_back(width);
  return dims;
}

}  // namespace qkv::cli

// Blind spots: what this input cannot show, whatever the user's code did.
#include <algorithm>
#include <cmath>

#include "diagnose/can_strike.hpp"
#include "diagnose/faults.hpp"
#include "diagnose/faults/rules.hpp"
#include "diagnose/likeness.hpp"
#include "qkv/attention/pipeline.hpp"
#include "qkv/diagnose/diagnose.hpp"

namespace qkv {

namespace {

using Ids = std::vector<std::string>;

/// A property, what it hides, and what would show it: gathered from sizes, settings and values.
class BlindSpots {
 public:
  explicit BlindSpots(const Case& the_case)
      : case_(the_case), problem_(the_case.problem), sizes_(the_case.problem.sizes) {}

  std::vector<Blind> find() {
    heads_and_lengths();
    scale();
    rotation();
    weights();
    rules();
    scores();
    roles();
    return std::move(blind_);
  }

 private:
  void heads_and_lengths() {
    const bool one_head = sizes_.H == 1;
    Ids by_heads = {"heads-not-split", "heads-viewed",   "heads-merged-viewed",
                    "heads-order",     "heads-averaged", "scale-heads"};
    if (sizes_.rank_four) by_heads.emplace_back("layout-blhd");
    if (masks().count() > 0) by_heads.emplace_back("mask-head-order");
    if (!sizes_.projects) by_heads.emplace_back("scale-d-model");
    add_if(one_head, "H = 1", by_heads, "two heads or more");
    add_if(!one_head && sizes_.D == 1 && sizes_.Dv == 1, "D = Dv = 1", {"heads-order"},
           "heads of two channels or more");
    add_if(!one_head && sizes_.L == 1, "L = 1", {"heads-merged-viewed"}, "two queries or more");
    add_if(!one_head && sizes_.L == 1 && sizes_.new_keys() == 1, "L = S = 1", {"heads-viewed"},
           "two queries or more");
    add_if(!one_head && sizes_.B == 1 && masks().count() > 0, "B = 1", {"mask-head-order"},
           "two samples or more, with different masks");
    add_if(!sizes_.has_batch, "no batch axis", {"batch-first"}, "a batch of two or more");
    add_if(sizes_.has_batch && sizes_.B == 1 && sizes_.L == 1, "B = L = 1", {"batch-first"},
           "a batch of two or more");
    add_if(sizes_.G == 1 && !one_head, "G = 1", {"gqa-tiled"},
           "two key/value heads or more, and fewer than query heads");
  }

  /// Factors that people take by mistake, where they equal the right one.
  void scale() {
    const auto right = [&](double factor) {
      return std::abs(factor - problem_.scale) <= 1e-12 * std::abs(problem_.scale);
    };
    const auto root = [](std::size_t n) { return 1 / std::sqrt(static_cast<double>(n)); };
    Ids none;
    if (right(1)) none = {"scale-missing", "scale-twice", "scale-inverted", "scale-after-softmax"};
    if (right(1 / static_cast<double>(sizes_.D))) none.emplace_back("scale-d-not-root");
    add_if(!none.empty(), sizes_.D == 1 ? "D = 1" : "the scale is " + scale_words(), none,
           "heads of two channels or more, and the scale 1/sqrt(D)");
    const std::size_t width = sizes_.projects ? sizes_.E : sizes_.H * sizes_.D;
    const bool listed = sizes_.H == 1 && !sizes_.projects;
    add_if(!listed && right(root(width)),
           sizes_.projects && width == sizes_.D ? "E = D" : "the scale is 1/sqrt(d_model)",
           {"scale-d-model"}, "a model wider than a head");
    add_if(sizes_.H > 1 && right(root(sizes_.H)),
           sizes_.H == sizes_.D ? "H = D" : "the scale is 1/sqrt(H)", {"scale-heads"},
           "another number of heads than channels in a head");
  }

  void rotation() {
    const Settings& settings = problem_.settings;
    if (!settings.rope_base) return;
    const auto [least, greatest] = range_of_positions();
    const bool rotated_given = given({"q_rope", "k_rope"});
    const bool all_zero = least == 0 && greatest == 0;
    add_if(all_zero, "all positions are 0",
           {"rope-missing", "rope-style", "rope-partial", "rope-base", "rope-twice", "rope-on-v"},
           "positions above 0: two tokens or more");
    add_if(!all_zero && least == greatest && sizes_.P == 0 && !rotated_given,
           "all positions are equal, and q_rope is not given",
           {"rope-missing", "rope-style", "rope-partial", "rope-base", "rope-twice"},
           "two tokens or more, or q_rope and k_rope");
    add_if(settings.rope_dim.value_or(sizes_.D) == 2 && !all_zero, "only one pair rotates",
           {"rope-style", "rope-base"}, "four rotated channels or more");
    add_if(sizes_.P == 0 && sizes_.L == sizes_.new_keys() && !rotated_given,
           "queries and keys shift together, and q_rope is not given", {"rope-offset"},
           "q_rope and k_rope, or a cache");
  }

  void weights() {
    std::vector<const Linear<double>*> square;
    bool biased = false, all_zero = true, only_keys = true;
    for (const Linear<double>* linear : {&problem_.query, &problem_.key, &problem_.value}) {
      if (linear->weight.empty()) continue;
      if (linear->in() == linear->out()) square.push_back(linear);
    }
    for (const Linear<double>* linear :
         {&problem_.query, &problem_.key, &problem_.value, &problem_.output}) {
      biased = biased || !linear->bias.empty();
      const bool zero = all_zeros(linear->bias);
      all_zero = all_zero && zero;
      only_keys = only_keys && (zero || linear == &problem_.key);
    }
    const bool fused = case_.inputs != nullptr && case_.inputs->wqkv.has_value();
    add_if(!fused && !square.empty() &&
               std::ranges::all_of(square,
                                   [](const auto* linear) { return symmetric(linear->weight); }),
           "square weights are symmetric", {"weight-transposed"}, "weights that are not symmetric");
    const Linear<double>& wo = problem_.output;
    add_if(sizes_.has_wo && symmetric(wo.weight), "wo is symmetric", {"out-proj-transposed"},
           "an output weight that is not symmetric");
    add_if(sizes_.has_wo && identity(wo.weight) && all_zeros(wo.bias), "wo is the identity",
           {"out-proj-missing"}, "another output weight");
    add_if(biased && all_zero, "every bias is 0", {"bias-missing", "bias-swapped"},
           "biases other than 0");
    add_if(biased && !all_zero && only_keys && !problem_.settings.rope_base &&
               !problem_.settings.softcap && !given({"k", "scores", "scaled", "masked"}),
           "only keys have a bias: it shifts whole rows of scores", {"bias-missing"},
           "k or scores, which show the shift that the softmax removes");
    if (!sizes_.projects) return;
    add_if(equal(problem_.query.weight, problem_.key.weight) &&
               equal(problem_.key.weight, problem_.value.weight),
           "wq, wk and wv are equal", {"qkv-shared"}, "three different weights");
    add_if(identity(problem_.value.weight) && all_zeros(problem_.value.bias), "wv is the identity",
           {"v-not-projected"}, "another value weight");
  }

  void rules() {
    const Visibility<double>& visibility = problem_.visibility;
    const bool aligned = sizes_.L == sizes_.S && visibility.lengths.empty();
    const bool by_position = visibility.causal || visibility.window;
    add_if(by_position ? faults::causal_align(case_).empty() : aligned, "L = S", {"causal-align"},
           "more keys than queries");
    if (!visibility.any()) return;

    if (masks().count() > 0) {
      const bool keeps_all = changes_nothing(case_, faults::mask_missing(case_));
      add_if(
          keeps_all, "the mask keeps every key",
          {"mask-missing", "mask-transposed", "mask-axis", "mask-head-order", "padding-on-queries"},
          "a mask that hides some keys");
      if (!keeps_all) mask_patterns();
    }
    position_patterns();
    const bool hides_nothing = !hides_something(visibility);
    Ids ids = {"mask-after-softmax", "mask-multiplied", "mask-fill-small", "softcap-after-mask"};
    if (!given({"masked"})) ids.emplace_back("mask-bool-added");
    add_if(hides_nothing, "no key is hidden from any query", ids, "a mask that hides some keys");
    add_if(!faults::has_empty_row(visibility), "every query sees a key", empty_row_ids(),
           "a query whose keys are all hidden");
  }

  void mask_patterns() {
    add_if(changes_nothing(case_, faults::mask_transposed(case_)), "the mask is symmetric",
           {"mask-transposed"}, "a mask that is not symmetric: causal, for example");
    add_if(changes_nothing(case_, faults::mask_axis(case_)),
           "the mask is the same along axes of one length", {"mask-axis"},
           "different masks for different samples or heads");
    const auto orders = faults::mask_head_order(case_);
    add_if(sizes_.B > 1 && sizes_.H > 1 && (orders.empty() || changes_nothing(case_, orders)),
           "the mask is the same for all samples and heads", {"mask-head-order"},
           "different masks for different samples");
  }

  void position_patterns() {
    add_if(changes_nothing(case_, faults::causal_missing(case_)), "the causal rule hides nothing",
           {"causal-missing"}, "two queries or more");
    add_if(changes_nothing(case_, faults::causal_one_ahead(case_)),
           "no query has a key after the next", {"causal-one-ahead"}, "two queries or more");
    add_if(changes_nothing(case_, faults::window_off_by_one(case_)),
           "the window is wider than the sequence", {"window-off-by-one"},
           "more keys than the window holds");
  }

  /// One key, keys that are all alike or queries of zeros: the softmax gives equal weights whatever
  /// the scores are.
  void scores() {
    const bool one_key = sizes_.S == 1;
    if (sizes_.S == 0 || given({"scaled", "capped", "masked"})) return;
    Ids ids = {"scale-missing",   "scale-twice", "scale-d-not-root", "scale-inverted",
               "scale-d-model",   "scale-heads", "scale-other",      "temperature",
               "softcap-missing", "alibi-slope", "qk-norm-missing"};
    if (!problem_.visibility.any()) {
      ids.emplace_back("softmax-twice");
      if (sizes_.H > 1) ids.emplace_back("heads-averaged");
    }
    if (one_key) {
      for (const char* id : {"rope-missing", "rope-style", "rope-partial", "rope-base",
                             "rope-twice", "rope-offset"}) {
        if (!given({"q_rope", "k_rope", "scores"})) ids.emplace_back(id);
      }
      add("S = 1", ids, "two keys or more");
      return;
    }
    const QueryKeyValue<double>& made = prepared();
    add_if(alike_along_keys(made.k), "all keys are the same vector", ids, "keys that differ");
    add_if(!alike_along_keys(made.k) && all_zeros(made.q), "q is 0", ids, "queries other than 0");
  }

  void roles() {
    const QueryKeyValue<double>& made = prepared();
    add_if(equal(made.q, made.k), "q equals k", {"qk-swapped"}, "different weights for q and k");
    add_if(equal(made.k, made.v), "k equals v", {"kv-swapped"}, "different weights for k and v");
    if (given({"attn", "masked", "capped", "scaled", "scores"}) || sizes_.S < 2) return;
    add_if(alike_along_keys(made.v), "all values are the same vector",
           {"softmax-twice",   "scale-missing",    "scale-twice",     "scale-d-not-root",
            "scale-inverted",  "scale-d-model",    "scale-heads",     "scale-other",
            "temperature",     "mask-missing",     "mask-multiplied", "mask-bool-added",
            "mask-fill-small", "mask-transposed",  "mask-axis",       "mask-head-order",
            "causal-missing",  "causal-one-ahead", "causal-align",    "window-off-by-one",
            "qk-swapped",      "softcap-missing",  "alibi-slope",     "qk-norm-missing",
            "rope-missing",    "rope-style",       "rope-offset",     "rope-partial",
            "rope-base",       "rope-twice"},
           "values that differ, or attn");
  }

  const QueryKeyValue<double>& prepared() {
    if (!prepared_) prepared_ = prepare(problem_);
    return *prepared_;
  }

  faults::RuleSet masks() const { return faults::masks_of(problem_.visibility); }

  Ids empty_row_ids() const {
    Ids ids = {"empty-rows-unmasked"};
    const EmptyRows policy = problem_.visibility.empty_rows;
    if (policy != EmptyRows::uniform) ids.insert(ids.begin(), "empty-rows-uniform");
    if (policy != EmptyRows::nan) ids.insert(ids.end() - 1, "empty-rows-nan");
    return ids;
  }

  bool given(const Ids& stages) const {
    return std::ranges::any_of(stages, [&](const auto& id) { return case_.got.contains(id); });
  }

  std::string scale_words() const { return problem_.scale == 1 ? "1" : "1/D"; }

  std::pair<double, double> range_of_positions() const {
    double least = HUGE_VAL, greatest = -HUGE_VAL;
    for (const auto* positions : {&problem_.query_positions, &problem_.key_positions}) {
      for (const double position : positions->elements()) {
        least = std::min(least, position);
        greatest = std::max(greatest, position);
      }
    }
    return {least, greatest};
  }

  void add(const std::string& property, const Ids& ids, const std::string& show_with) {
    Blind blind{.property = property, .hides = {}, .show_with = show_with};
    for (const std::string& id : ids) {
      const bool listed = std::ranges::any_of(blind_, [&](const Blind& other) {
        return std::ranges::find(other.hides, id) != other.hides.end();
      });
      if (can_strike(id, problem_) && !listed) blind.hides.push_back(id);
    }
    if (!blind.hides.empty()) blind_.push_back(std::move(blind));
  }

  void add_if(bool holds, const std::string& property, const Ids& ids,
              const std::string& show_with) {
    if (holds) add(property, ids, show_with);
  }

  const Case& case_;
  const Problem<double>& problem_;
  const Sizes& sizes_;
  std::optional<QueryKeyValue<double>> prepared_;
  std::vector<Blind> blind_;
};

}  // namespace

std::vector<Blind> blind_spots(const Case& the_case) { return BlindSpots(the_case).find(); }

}  // namespace qkv

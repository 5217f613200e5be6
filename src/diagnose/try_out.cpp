// Trying an alteration out: the altered computation beside the user's stages.
#include "diagnose/try_out.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "diagnose/next_step.hpp"
#include "diagnose/rounding.hpp"
#include "qkv/attention/pipeline.hpp"

namespace qkv {

namespace {

/// Ends the computation early: everything that was to be compared has been.
struct Enough {};

/// Ends it without a result: what the mistakes left fits no further step.
struct Misfit {};

/// What lies below this in a row after softmax is 0 in float32 whatever else the row holds: e^-104
/// < 2^-149.
constexpr double as_good_as_hidden = 104;

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

class Trial {
 public:
  Trial(const Case& the_case, const Alteration& alteration,
        const std::vector<std::string>& must_match, const Allowed* quick = nullptr)
      : case_(the_case),
        alteration_(alteration),
        must_match_(must_match),
        quick_(quick),
        held_(alteration.problem),
        rounding_(std::max(the_case.eps, alteration.eps)) {
    for (const StageShape& stage : case_.stages) {
      if (case_.got.contains(stage.id)) last_ = stage.id;
    }
  }

  std::vector<StageFinding> run() {
    try {
      attend<double>(alteration_.problem, [this](std::string_view id, Tensor<double, 4>& value) {
        on_stage(std::string(id), value);
      });
    } catch (const Enough&) {
    } catch (const Misfit&) {
      return {};
    }
    return std::move(findings_);
  }

 private:
  void on_stage(const std::string& id, Tensor<double, 4>& value) {
    make(id, value);
    compare_with_given(id, value);
    if (!next_step_fits(id, held_)) throw Misfit{};
  }

  /// The stage with all mistakes in it.
  void make(const std::string& id, Tensor<double, 4>& value) {
    for (const ChangedStage& change : alteration_.edits) {
      if (strikes(change.stage, id)) value = change.edit(held_, value);
    }
    if (quick_ == nullptr) rounding_.computed(id, held_, value);
    for (const ChangedStage& change : alteration_.edits) {
      if (quick_ == nullptr && change.spread && strikes(change.stage, id))
        rounding_.spread(id, change.spread(held_, value));
    }
    for (const StageMove& move : alteration_.moves) {
      if (!strikes(move.stage, id)) continue;
      if (move.from == move.stage) {
        if (quick_ == nullptr) rounding_.moved(id, id, value, move.move);
        value = move.move(value);
      } else if (held_.has(move.from)) {
        if (quick_ == nullptr) rounding_.moved(id, move.from, held_.at(move.from), move.move);
        value = move.move(held_.at(move.from));
      }
    }
    held_.set(id, value);
  }

  void compare_with_given(const std::string& id, Tensor<double, 4>& value) {
    const auto found = case_.got.find(id);
    if (found == case_.got.end()) return;

    GotStage got = found->second;
    std::vector<Move> back;
    Tensor<double, 4> shown = value, allowed = tolerance(id, value);
    for (const StageMove& show : alteration_.shown) {
      if (!strikes(show.stage, id)) continue;
      shown = show.move(shown);
      allowed = show.move(allowed);
      back.insert(back.begin(), show.back);
    }
    findings_.push_back(compare(id, got, shown, allowed));
    const bool matches = findings_.back().status == StageStatus::match;
    if (!matches && std::ranges::find(must_match_, id) != must_match_.end()) throw Enough{};
    if (id == last_) throw Enough{};
    if (got.value.empty() || got.value.sizes() != shown.sizes()) return;
    for (const Move& move : back) {
      if (!move) return;
      got.value = move(got.value);
    }
    value = got.value;
    if (quick_ == nullptr) rounding_.given(id, held_, got);
    held_.set(id, value);
  }

  /// In a quick look, a thousand times what the right computation may be off by, and some hundred
  /// roundings of the greatest number of the row: mistakes enlarge numbers, show hidden ones, and
  /// with them their rounding. Where the shapes differ nothing is known, and everything passes.
  Tensor<double, 4> tolerance(const std::string& id, const Tensor<double, 4>& value) const {
    if (quick_ == nullptr) return rounding_.tolerance(id, value);
    auto allowed = Tensor<double, 4>::make(value.sizes());
    const auto known = quick_->find(id);
    const bool fits = known != quick_->end() && known->second.sizes() == value.sizes();
    const std::size_t width = value.size(3);
    double greatest = 0;
    for (std::size_t n = 0; n < allowed.size(); ++n) {
      if (n % width == 0) {
        greatest = greatest_in(value, n, width);
        // A logit of thousands is off by thousands of roundings, and its weight with it.
        const bool by_logits = id == "attn" && held_.logits().sizes() == value.sizes();
        if (by_logits) greatest *= std::max(1.0, greatest_in(held_.logits(), n, width));
      }
      allowed.data()[n] =
          fits ? 1000 * known->second.data()[n] + 256 * case_.eps * greatest : HUGE_VAL;
    }
    return allowed;
  }

  static double greatest_in(const Tensor<double, 4>& value, std::size_t from, std::size_t width) {
    double greatest = 0;
    for (std::size_t n = from; n < from + width; ++n) {
      if (std::isfinite(value.data()[n])) greatest = std::max(greatest, std::abs(value.data()[n]));
    }
    return greatest;
  }

  /// Edits of heads also strike out where one head without W_O makes it directly.
  bool strikes(const std::string& stage, const std::string& id) const {
    return stage == id || (stage == "heads" && id == "out" && !held_.has("heads"));
  }

  StageFinding compare(const std::string& id, const GotStage& got, const Tensor<double, 4>& value,
                       const Tensor<double, 4>& allowed) const {
    StageFinding finding{.id = id, .status = StageStatus::shape};
    finding.shape_got = got.shape;
    finding.shape_expected = value.shape();
    if (got.value.empty() || got.value.sizes() != value.sizes()) {
      finding.residual = HUGE_VAL;
      return finding;
    }
    finding.count = value.size();
    double max_abs = 0, max_rel = 0;
    std::size_t worst = 0;
    for (std::size_t n = 0; n < value.size(); ++n) {
      const double a = got.value.data()[n], b = value.data()[n];
      if (same(a, b) || (id == "masked" && both_hidden(n, a, b, value))) continue;
      const double difference = std::abs(a - b);
      // A NaN or an infinity on one side only is as far off as can be.
      const double residual = std::isfinite(difference) ? difference / allowed.data()[n] : HUGE_VAL;
      if (!(residual <= 1)) ++finding.differing;
      if (std::isfinite(difference)) {
        max_abs = std::max(max_abs, difference);
        if (b != 0) max_rel = std::max(max_rel, difference / std::abs(b));
      }
      if (residual > finding.residual) {
        finding.residual = residual;
        worst = n;
      }
    }
    finding.status = finding.differing == 0 ? StageStatus::match : StageStatus::differ;
    finding.max_abs = max_abs;
    finding.max_rel = max_rel;
    if (value.size() > 0) {
      finding.at = index_of(worst, value);
      finding.got = got.value.data()[worst];
      finding.expected = value.data()[worst];
    }
    return finding;
  }

  /// Different fills hide alike as long as both lie far below the row's greatest logit, or below 0
  /// where the row has none: what a query that sees no key gets is up to attn.
  bool both_hidden(std::size_t n, double a, double b, const Tensor<double, 4>& value) const {
    const std::size_t S = value.size(3), row = n / S * S;
    double greatest = -HUGE_VAL;
    for (std::size_t s = 0; s < S; ++s) greatest = std::max(greatest, value.data()[row + s]);
    if (greatest == -HUGE_VAL || sees_nothing(n, value)) greatest = 0;
    return a < greatest - as_good_as_hidden && b < greatest - as_good_as_hidden;
  }

  bool sees_nothing(std::size_t n, const Tensor<double, 4>& value) const {
    const Visibility<double>& visibility = alteration_.problem.visibility;
    const Shape full = {visibility.B, visibility.H, visibility.L, visibility.S};
    if (value.shape() != full) return false;
    const std::size_t row = n / visibility.S, h = row / visibility.L;
    return visibility.empty_row(h / visibility.H, h % visibility.H, row % visibility.L);
  }

  std::vector<std::size_t> index_of(std::size_t n, const Tensor<double, 4>& value) const {
    const std::size_t four[4] = {n / (value.size(1) * value.size(2) * value.size(3)),
                                 n / (value.size(2) * value.size(3)) % value.size(1),
                                 n / value.size(3) % value.size(2), n % value.size(3)};
    std::vector<std::size_t> index;
    if (case_.problem.sizes.has_batch) index.push_back(four[0]);
    if (value.size(1) > 1 || (case_.problem.sizes.has_heads && case_.problem.sizes.rank_four))
      index.push_back(four[1]);
    index.push_back(four[2]);
    index.push_back(four[3]);
    return index;
  }

  const Case& case_;
  const Alteration& alteration_;
  const std::vector<std::string>& must_match_;
  const Allowed* quick_;  ///< none: a full trial
  Held held_;
  Rounding rounding_;
  std::string last_;
  std::vector<StageFinding> findings_;
};

}  // namespace

Allowed allowed_by_rounding(const Case& the_case) {
  Allowed allowed;
  const Alteration none{.problem = the_case.problem};
  Held held(none.problem);
  Rounding rounding(the_case.eps);
  attend<double>(none.problem, [&](std::string_view stage, Tensor<double, 4>& value) {
    const std::string id(stage);
    rounding.computed(id, held, value);
    held.set(id, value);
    const auto found = the_case.got.find(id);
    if (found == the_case.got.end()) return;
    allowed[id] = rounding.tolerance(id, value);
    if (found->second.value.empty() || found->second.value.sizes() != value.sizes()) return;
    value = found->second.value;
    rounding.given(id, held, found->second);
    held.set(id, value);
  });
  return allowed;
}

bool worth_trying(const Case& the_case, const Alteration& alteration,
                  const std::vector<std::string>& must_match, const Allowed& allowed) {
  if (alteration.eps > the_case.eps) return true;  // coarser rounding than that of `allowed`
  const std::vector<StageFinding> findings =
      Trial(the_case, alteration, must_match, &allowed).run();
  for (const StageFinding& finding : findings) {
    const bool asked = std::ranges::find(must_match, finding.id) != must_match.end();
    if (asked && finding.status != StageStatus::match) return false;
  }
  return !findings.empty();
}

std::vector<StageFinding> try_out(const Case& the_case, const Alteration& alteration,
                                  const std::vector<std::string>& must_match) {
  return Trial(the_case, alteration, must_match).run();
}

}  // namespace qkv

// Search: mistakes tried out on every stage that departs, alone and in pairs.
#include "diagnose/search.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <set>

#include "diagnose/fault_kinds.hpp"
#include "diagnose/faults.hpp"
#include "diagnose/ranking.hpp"
#include "diagnose/try_out.hpp"
#include "qkv/diagnose/fault.hpp"

namespace qkv {

namespace {

struct Candidate {
  const Fault* fault;
  Variant variant;
};

std::size_t place_of(std::string_view stage) {
  const auto stages = stage_list();
  const auto found = std::ranges::find(stages, stage, &StageInfo::id);
  return static_cast<std::size_t>(found - stages.begin());
}

class Search {
 public:
  Search(const Case& the_case, const std::vector<StageFinding>& reference,
         const OnProgress& on_progress, std::size_t threads)
      : case_(the_case), on_progress_(on_progress), threads_(threads) {
    for (const StageFinding& finding : reference)
      (finding.status == StageStatus::match ? matching_ : differing_).push_back(finding.id);
    const std::span<const Fault> faults = fault_list();
    std::vector<std::vector<Variant>> variants(faults.size());
    parallel(threads_, faults.size(),
             [&](std::size_t n, std::size_t) { variants[n] = faults[n].variants(case_); });
    for (std::size_t n = 0; n < faults.size(); ++n) {
      for (Variant& variant : variants[n]) candidates_.push_back({&faults[n], std::move(variant)});
    }
  }

  std::vector<FoundFault> run() {
    std::vector<FoundFault> found;
    std::set<std::string> explained;
    for (std::size_t n = 0; n < differing_.size(); ++n) {
      const std::string& target = differing_[n];
      if (explained.contains(target)) continue;
      std::vector<Accepted> accepted = singles(target);
      if (accepted.empty()) {
        const auto left =
            std::count_if(differing_.begin() + static_cast<std::ptrdiff_t>(n), differing_.end(),
                          [&](const std::string& stage) { return !explained.contains(stage); });
        accepted = pairs(target, static_cast<std::size_t>(left));
      }
      if (accepted.empty()) continue;
      report(accepted, found);
      explained.insert(accepted.front().explains.begin(), accepted.front().explains.end());
    }
    return found;
  }

 private:
  Alteration altered(const std::vector<const Candidate*>& mistakes) const {
    Alteration alteration{.problem = case_.problem};
    for (const Candidate* mistake : mistakes) mistake->variant.apply(alteration);
    return alteration;
  }

  std::optional<Accepted> attempt(const std::string& target,
                                  const std::vector<const Candidate*>& mistakes) const {
    std::vector<std::string> must_match = matching_;
    must_match.push_back(target);
    const Alteration alteration = altered(mistakes);
    if (!worth_trying(case_, alteration, must_match, allowed_)) return std::nullopt;
    const std::vector<StageFinding> findings = try_out(case_, alteration, must_match);
    Accepted accepted;
    bool reached = false;
    for (const StageFinding& finding : findings) {
      const bool matches = finding.status == StageStatus::match;
      if (!matches && std::ranges::find(must_match, finding.id) != must_match.end())
        return std::nullopt;
      reached = reached || finding.id == target;
      accepted.refuted = accepted.refuted || (!matches && changes(alteration, finding.id));
      if (!matches || std::ranges::find(differing_, finding.id) == differing_.end()) continue;
      accepted.explains.push_back(finding.id);
      accepted.residual = std::max(accepted.residual, finding.residual);
      accepted.left = std::max(accepted.left, finding.max_abs.value_or(0));
    }
    if (!reached) return std::nullopt;
    for (const Candidate* mistake : mistakes) {
      accepted.faults.push_back(mistake->fault);
      accepted.variants.push_back(&mistake->variant);
    }
    return accepted;
  }

  static bool changes(const Alteration& alteration, const std::string& stage) {
    return std::ranges::any_of(alteration.edits, [&](const auto& e) { return e.stage == stage; }) ||
           std::ranges::any_of(alteration.moves, [&](const auto& m) { return m.stage == stage; }) ||
           std::ranges::any_of(alteration.shown, [&](const auto& m) { return m.stage == stage; });
  }

  /// Could strike at the target or before it.
  bool early_enough(const Candidate& candidate, const std::string& target) const {
    // Where the cap comes after the mask, capped shows what was done to the mask.
    return place_of(candidate.fault->stage) <= place_of(target == "capped" ? "masked" : target);
  }

  std::vector<Accepted> singles(const std::string& target) const {
    std::vector<std::optional<Accepted>> attempts(candidates_.size());
    parallel(
        threads_, candidates_.size(),
        [&](std::size_t n, std::size_t) {
          if (early_enough(candidates_[n], target))
            attempts[n] = attempt(target, {&candidates_[n]});
        },
        on_progress_);
    std::vector<Accepted> accepted;
    for (std::optional<Accepted>& one : attempts) {
      if (one) accepted.push_back(std::move(*one));
    }
    accepted = best(std::move(accepted));
    // NaN is like NaN, whatever else was done before: where there is nothing else, those come first
    // that say where it is from.
    if (nothing_but_nan(target)) {
      const bool nan_in_inputs = faults::inputs_non_finite(case_.problem);
      std::ranges::stable_sort(accepted, {}, [&](const Accepted& one) {
        return place_among_nan_faults(*one.faults.front(), nan_in_inputs);
      });
    }
    return accepted;
  }

  bool nothing_but_nan(const std::string& target) const {
    return std::ranges::all_of(case_.got.at(target).value.elements(),
                               [](double value) { return std::isnan(value); });
  }

  /// Two mistakes at once: the first two that explain all of the `left` stages that still differ,
  /// else those that explain most. The number of trials is bounded by the work that they make, not
  /// by the clock, so that the same input gives the same answer.
  std::vector<Accepted> pairs(const std::string& target, std::size_t left) {
    const Sizes& sizes = case_.problem.sizes;
    const double work = static_cast<double>(sizes.B * sizes.H * sizes.L * sizes.S) *
                            static_cast<double>(sizes.D + sizes.Dv + 100) +
                        1e5;
    constexpr double most_work = 1e10;
    auto trials = static_cast<std::size_t>(most_work / work);
    std::vector<Accepted> most;
    // In batches, each of which is tried at once and looked through in order.
    using Pair = std::pair<const Candidate*, const Candidate*>;
    std::vector<Pair> batch;
    constexpr std::size_t batch_size = 64;
    const auto explains_all = [&] {
      std::vector<std::optional<Accepted>> attempts(batch.size());
      parallel(threads_, batch.size(), [&](std::size_t n, std::size_t) {
        attempts[n] = attempt(target, {batch[n].first, batch[n].second});
      });
      batch.clear();
      for (std::optional<Accepted>& two : attempts) {
        if (two && (most.empty() || two->explains.size() > most.front().explains.size()))
          most = {std::move(*two)};
        if (!most.empty() && most.front().explains.size() == left) return true;
      }
      return false;
    };
    for (std::size_t i = 0; i < candidates_.size() && trials > 0; ++i) {
      for (std::size_t j = i + 1; j < candidates_.size() && trials > 0; ++j) {
        const Candidate &first = candidates_[i], &second = candidates_[j];
        if (first.fault == second.fault || generic(*first.fault) || generic(*second.fault))
          continue;
        if (!early_enough(first, target) || !early_enough(second, target)) continue;
        --trials;
        batch.emplace_back(&first, &second);
        if (batch.size() == batch_size && explains_all()) return most;
      }
    }
    if (explains_all()) return most;
    for (const Candidate& first : candidates_) {
      if (generic(*first.fault) || !early_enough(first, target)) continue;
      constexpr std::size_t cost_of_fitting = 100;  // in trials
      if (trials < cost_of_fitting) return most;
      const std::vector<const Candidate*> fitted = fitted_after(first);
      trials -= fitted.empty() ? 0 : cost_of_fitting;
      for (const Candidate* second : fitted) {
        if (!early_enough(*second, target) || trials == 0) continue;
        --trials;
        batch.emplace_back(&first, second);
      }
      if (explains_all()) return most;
    }
    return most;
  }

  /// Mistakes whose number is fitted to a problem that the first mistake has changed already; none
  /// where it changes steps too.
  std::vector<const Candidate*> fitted_after(const Candidate& first) {
    const Alteration alteration = altered({&first});
    if (!alteration.edits.empty() || !alteration.moves.empty() || !alteration.shown.empty())
      return {};
    Case changed = case_;
    changed.problem = alteration.problem;
    std::vector<const Candidate*> made;
    for (const Fault& fault : fault_list()) {
      if (!fits_a_number(fault) || &fault == first.fault) continue;
      for (Variant& variant : fault.variants(changed)) {
        fitted_.push_back({&fault, std::move(variant)});
        made.push_back(&fitted_.back());
      }
    }
    return made;
  }

  const Case& case_;
  const OnProgress& on_progress_;
  std::size_t threads_;
  const Allowed allowed_ = allowed_by_rounding(case_);
  std::vector<std::string> matching_, differing_;
  std::vector<Candidate> candidates_;
  std::deque<Candidate> fitted_;  ///< found while looking for pairs; accepted ones point here
};

}  // namespace

std::vector<FoundFault> search_faults(const Case& the_case,
                                      const std::vector<StageFinding>& reference,
                                      const OnProgress& on_progress, std::size_t threads) {
  return Search(the_case, reference, on_progress, threads).run();
}

}  // namespace qkv

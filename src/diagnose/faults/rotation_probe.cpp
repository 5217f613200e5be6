// RotationProbe: how well another rotation fits the user's tensors, on a few queries.
#include "diagnose/faults/rotation_probe.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "diagnose/faults/problem_part.hpp"
#include "diagnose/faults/rotation.hpp"
#include "qkv/attention/pipeline.hpp"
#include "qkv/attention/split_heads.hpp"

namespace qkv {

namespace {

using Four = Tensor<double, 4>;

constexpr std::size_t most_queries = 4;
constexpr std::size_t batch_row = 0;

/// Ends a run: what was to be compared has been.
struct Enough {};

}  // namespace

RotationProbe::RotationProbe(const Case& the_case) : case_(the_case) {
  const Problem<double>& whole = the_case.problem;
  count_ = std::min(whole.sizes.L, most_queries);
  first_ = whole.sizes.L - count_;
  if (count_ == 0 || whole.sizes.S == 0 || whole.sizes.B == 0) return;
  // q, k and v before the rotation, the user's own where given
  std::map<std::string, Four> made;
  try {
    prepare<double>(whole, [&](std::string_view id, Four& value) {
      const auto got = the_case.got.find(std::string(id));
      if (got != the_case.got.end() && got->second.fits) value = got->second.value;
      made[std::string(id)] = value;
      if (id == "v") throw Enough{};
    });
  } catch (const Enough&) {
  }
  problem_ = part_of_problem(whole, made["q"], made["k"], made["v"], batch_row, first_, count_);
}

/// One run of the part, beside the user's stages.
class RotationProbe::Run {
 public:
  Run(const RotationProbe& probe, const Trial& trial) : probe_(probe), trial_(trial) {}

  double distance() {
    Problem<double> altered = probe_.problem_;
    if (trial_.change) trial_.change(altered);
    if (probe_.sees_rotation(trial_.of_q, trial_.of_k)) {
      keys_ = std::min(altered.k.size(2), most_queries);
      const std::size_t first = altered.k.size(2) - keys_;
      altered.k = part_of_rows(altered.k, 0, first, keys_);
      altered.key_positions = part_of_positions(altered.key_positions, 0, first, keys_);
    }
    try {
      attend<double>(altered, [&](std::string_view id, Four& value) {
        on_stage(std::string(id), value, altered);
      });
    } catch (const Enough&) {
    }
    return done() && size_ > 0 ? std::sqrt(squares_ / size_) : HUGE_VAL;
  }

 private:
  bool done() const { return (!trial_.of_q || saw_q_) && (!trial_.of_k || saw_k_); }

  void on_stage(const std::string& id, Four& value, const Problem<double>& altered) {
    if (id == "q" || id == "q_norm") q_ = value;
    if (id == "k" || id == "k_norm") k_ = value;
    if (id == "q" || id == "k" || id == "v" || id == "q_norm" || id == "k_norm") return;
    if (id == "q_rope" || id == "k_rope") {
      on_rotation(id, value, altered);
      return;
    }
    if (done()) throw Enough{};
    if (!probe_.case_.got.contains(id) || !probe_.case_.got.at(id).fits) return;
    Four got = probe_.case_.got.at(id).value;
    const Sizes& sizes = altered.sizes;
    if (id == "out" && sizes.rank_four && !sizes.has_wo &&
        altered.settings.layout == Layout::blhd) {
      got = exchange_heads_and_length(got);
      value = exchange_heads_and_length(value);
    }
    add(part_of_rows(got, batch_row, probe_.first_, probe_.count_), value);
    saw_q_ = saw_k_ = true;  // one stage says all there is to say of both
    throw Enough{};
  }

  void on_rotation(const std::string& id, Four& value, const Problem<double>& altered) {
    const bool of_q = id == "q_rope", touched = of_q ? trial_.of_q : trial_.of_k;
    if (trial_.rotation && touched) {
      value = trial_.rotation(of_q ? q_ : k_,
                              of_q ? altered.query_positions : altered.key_positions, altered);
    }
    const auto found = probe_.case_.got.find(id);
    if (found == probe_.case_.got.end() || !found->second.fits) return;
    const Four& all = found->second.value;
    const Four got = of_q
                         ? part_of_rows(all, batch_row, probe_.first_, probe_.count_)
                         : part_of_rows(all, batch_row, all.size(2) - value.size(2), value.size(2));
    if (touched) {
      add(got, value);
      (of_q ? saw_q_ : saw_k_) = true;
    }
    value = got;
    if (done()) throw Enough{};
  }

  void add(const Four& got, const Four& value) {
    if (got.sizes() != value.sizes()) return;
    for (std::size_t n = 0; n < value.size(); ++n) {
      const double difference = got.data()[n] - value.data()[n];
      if (!std::isfinite(difference)) continue;  // hidden on both sides, or nothing to fit
      squares_ += difference * difference;
      size_ += got.data()[n] * got.data()[n];
    }
  }

  const RotationProbe& probe_;
  const Trial& trial_;
  Four q_, k_;
  std::size_t keys_ = 0;
  bool saw_q_ = false, saw_k_ = false;
  double squares_ = 0, size_ = 0;
};

double RotationProbe::distance(const Trial& trial) const {
  return problem_.q.empty() ? HUGE_VAL : Run(*this, trial).distance();
}

bool RotationProbe::sees_rotation(bool of_q, bool of_k) const {
  const auto given = [&](const char* id) {
    const auto found = case_.got.find(id);
    return found != case_.got.end() && found->second.fits;
  };
  return (!of_q || given("q_rope")) && (!of_k || given("k_rope"));
}

std::size_t RotationProbe::affordable(std::size_t most, bool of_q, bool of_k) const {
  if (sees_rotation(of_q, of_k)) return most;
  // Each trial rotates all keys: sines and cosines for S positions and n/2 pairs.
  constexpr double most_angles = 4e6;
  const double angles = static_cast<double>(case_.problem.sizes.S) *
                        static_cast<double>(rotating_channels(case_.problem)) / 2;
  return std::min(most, static_cast<std::size_t>(most_angles / (angles + 1)));
}

std::vector<std::size_t> ranked(const RotationProbe& probe,
                                const std::vector<RotationProbe::Trial>& trials) {
  std::vector<std::pair<double, std::size_t>> found;
  for (std::size_t n = 0; n < trials.size(); ++n) {
    const double distance = probe.distance(trials[n]);
    if (std::isfinite(distance)) found.emplace_back(distance, n);
  }
  std::ranges::stable_sort(found, {}, &std::pair<double, std::size_t>::first);
  std::vector<std::size_t> order;
  for (const auto& [distance, n] : found) order.push_back(n);
  return order;
}

}  // namespace qkv

// Rounding: how far a correct implementation may lie from the reference, element by element, as a
// variance.
#pragma once

#include <initializer_list>
#include <map>
#include <string>

#include "qkv/diagnose/alteration.hpp"
#include "qkv/diagnose/case.hpp"

namespace qkv {

/// Differences of up to this many standard deviations are rounding.
constexpr double rounding_deviations = 8;

/// The variance of each stage's rounding error, computed beside the stages.
///
/// Every stored number is rounded by up to eps/2 of itself, evenly spread: variance eps^2/12 of its
/// square. A sum of n products, whose partial sums grow like a random walk, adds n/2 times the
/// accumulator's variance of each product's square. Errors of the inputs of a step pass through its
/// derivatives (first order). Nothing here is tuned: eps is that of the user's files, and
/// accumulators are float32 at least, as the field has them.
class Rounding {
 public:
  /// `eps` of the coarsest type that a stage is stored in or rounded to.
  explicit Rounding(double eps) : eps_(eps) {}

  /// Takes note of a stage that was computed from those held.
  void computed(const std::string& id, const Held& held, const Tensor<double, 4>& value);
  /// Takes note of further variance.
  void spread(const std::string& id, const Tensor<double, 4>& variance);
  /// Takes note that the stage was replaced by the move of an earlier one, `source`, or of its own
  /// numbers.
  void moved(const std::string& id, const std::string& from, const Tensor<double, 4>& source,
             const Move& move);
  /// Takes note that the stage was replaced by the user's own.
  void given(const std::string& id, const Held& held, const GotStage& got);
  /// Largest difference that rounding explains at each element: eight standard deviations.
  Tensor<double, 4> tolerance(const std::string& id, const Tensor<double, 4>& value) const;

 private:
  using Four = Tensor<double, 4>;

  static void forget_fill(Four& variance, const Held& held, const Four& value);
  /// The first of these stages that there is, latest first.
  std::string last_of(std::initializer_list<std::string> ids) const;
  double accumulator() const;
  Four with_cache(const std::string& id, const Four& all) const;
  Four projected(const Tensor<double, 3>& x, const Tensor<double, 3>& x_variance,
                 const Linear<double>& linear) const;
  Four of_projection(const std::string& id, const Held& held, const Four& value) const;
  Four of_rotation(const std::string& id, const Held& held, const Four& value) const;
  Four of_scores(const Held& held) const;
  Four of_softmax(const Held& held, const Four& attn) const;
  Four of_weighted_sum(const Held& held, const Four& value) const;
  Four of_output(const std::string& id, const Held& held, const Four& value) const;
  Four before_rounding(const std::string& id, const Held& held, const Four& value) const;

  double eps_;
  std::map<std::string, Four> variances_;
};

}  // namespace qkv

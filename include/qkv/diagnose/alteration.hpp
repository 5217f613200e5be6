// Alteration: the computation with a mistake made on purpose.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "qkv/attention/problem.hpp"
#include "qkv/tensor/tensor.hpp"

namespace qkv {

/// The stages computed so far, by id, as (B,H,L,.), with the mistake and with the user's own
/// tensors where those were given.
class Held {
 public:
  explicit Held(const Problem<double>& problem) : problem_(&problem) {}

  void set(const std::string& id, Tensor<double, 4> value) { stages_[id] = std::move(value); }
  bool has(const std::string& id) const { return stages_.contains(id); }
  const Tensor<double, 4>& at(const std::string& id) const { return stages_.at(id); }
  const Problem<double>& problem() const { return *problem_; }

  /// What the rotation turns: "q" or "k", normalised where it is.
  const Tensor<double, 4>& unrotated(const std::string& role) const {
    return has(role + "_norm") ? at(role + "_norm") : at(role);
  }
  /// What the scores are made from: q (B,H,L,D), rotated where there is rotation.
  const Tensor<double, 4>& query() const { return prepared("q"); }
  /// The new keys, k (B,G,S-P,D), rotated where there is rotation.
  const Tensor<double, 4>& new_keys() const { return prepared("k"); }
  /// k (B,G,S,D), rotated, with the cache in front.
  Tensor<double, 4> keys() const;
  /// v (B,G,S,Dv) with the cache in front.
  Tensor<double, 4> values() const;
  /// The last stage before the softmax that has been computed: masked, else capped, else scaled,
  /// else scores.
  const Tensor<double, 4>& logits() const;
  /// The last stage before the mask: capped, else scaled, else scores.
  const Tensor<double, 4>& unmasked() const;

 private:
  const Tensor<double, 4>& prepared(const std::string& role) const {
    return has(role + "_rope") ? at(role + "_rope") : unrotated(role);
  }

  const Problem<double>* problem_;
  std::map<std::string, Tensor<double, 4>> stages_;
};

/// Makes another value of a stage; `right` is what the step before made of the stages held. Never
/// writes into `right`.
using StageEdit =
    std::function<Tensor<double, 4>(const Held& held, const Tensor<double, 4>& right)>;

/// Brings numbers elsewhere or averages them, without looking at them: what rounding may do to the
/// result is the same move of what it may do to what went in.
using Move = std::function<Tensor<double, 4>(const Tensor<double, 4>&)>;

struct ChangedStage {
  std::string stage;
  StageEdit edit;
  StageEdit spread = {};  ///< of the edited stage: the variance that its making adds, where the
                          ///< step that it replaces has none like it
};

struct StageMove {
  std::string stage;
  std::string from;  ///< the stage whose numbers are moved
  Move move;
  Move back = {};  ///< of what is shown otherwise: the stage from the user's file
};

/// A mistake is a changed problem (a scale, a mask, a weight), edits and moves of stages, or all of
/// them; at a stage the edits come first. Those of "heads" also work where one head without W_O
/// makes out directly; those of stages that the configuration does not have do nothing.
struct Alteration {
  Problem<double> problem = {};
  std::vector<ChangedStage> edits = {};
  std::vector<StageMove> moves = {};
  std::vector<StageMove> shown = {};
  double eps = 0;  ///< coarser rounding than the files' own, 0: none

  void edit(std::string stage, StageEdit edit, StageEdit spread = {}) {
    edits.push_back({std::move(stage), std::move(edit), std::move(spread)});
  }
  /// The stage holds its numbers in other places: heads split by a reshape.
  void move(const std::string& stage, Move move) {
    moves.push_back({stage, stage, std::move(move)});
  }
  /// The stage holds the numbers of an earlier one: out that was not projected is concat.
  void take(std::string stage, std::string from, Move move) {
    moves.push_back({std::move(stage), std::move(from), std::move(move)});
  }
  /// The user's file of the stage holds its numbers in other places, while the computation goes on
  /// from the stage itself: attn as the mean over the heads. Without a way back from the file, what
  /// the user gave is compared only.
  void show(const std::string& stage, Move move, Move back = {}) {
    shown.push_back({stage, stage, std::move(move), std::move(back)});
  }
};

}  // namespace qkv

// Language model: from token ids to a logit for each token that could come next.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "qkv/block/block.hpp"
#include "qkv/tensor/tensor.hpp"

namespace qkv {

/// One block of the stack, without x.
struct ModelLayer {
  Inputs inputs = {};
  BlockInputs block = {};
  Settings settings = {};
};

/// The tensors of a model as its files hold them.
struct LanguageModelInputs {
  NamedArray embedding = {};                                       ///< (V,E)
  std::vector<ModelLayer> layers = {};                             ///< one at least
  BlockSettings settings = {};                                     ///< of every block and norm
  std::optional<NamedArray> final_norm_w = {}, final_norm_b = {};  ///< (E); neither: no norm
  std::optional<NamedArray> lm_head_w = {};  ///< (V,E) or (E,V); absent: the embedding again
  std::optional<NamedArray> lm_head_b = {};  ///< (V)
};

/// Called once per stage of layer `layer`, as OnStage is.
template <class T>
using OnLayerStage =
    std::function<void(std::size_t layer, std::string_view stage, Tensor<T, 4>& value)>;

/// What the model made of the tokens that came last.
template <class T>
struct ModelOutput {
  Tensor<T, 3> final_norm = {};  ///< (1,L,E), what the logits are made from
  Tensor<T, 2> logits = {};      ///< (L,V)
};

///   x = embedding[ids] + positions,  y = blocks(x),  logits = norm(y)*W_head^T + b_head
///
/// Every token sees itself and those before it, whatever the settings of the layers say. Keys and
/// values of tokens that came earlier are kept, so that a token more costs one token's work.
template <class T>
class LanguageModel {
 public:
  /// `positions` are added to the embedding of the tokens by their place: (N,E), or empty for none.
  ///
  /// throws  Error naming every file that does not fit: embedding, final norm, head. Blocks are
  /// looked at by extend()
  LanguageModel(const LanguageModelInputs& inputs, const Tensor<double, 2>& positions);

  /// The tokens after those that came before.
  ///
  /// shape   L ids -> logits (L,V)
  /// needs   every id < V, L > 0, and as many positions as tokens in all
  /// throws  Error naming every weight of a layer that does not fit
  ModelOutput<T> extend(std::span<const std::size_t> ids, const OnLayerStage<T>& on_stage = {});

  std::size_t vocabulary_size() const { return embedding_.size(0); }
  std::size_t length() const { return length_; }  ///< tokens that came
  /// What was decided for the user: "wq is square: read as in-out".
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  void read_head(const LanguageModelInputs& inputs);
  Tensor<T, 3> embedded(std::span<const std::size_t> ids) const;
  Tensor<T, 3> normed(const Tensor<T, 3>& y) const;

  Tensor<T, 2> embedding_ = {};
  Tensor<double, 2> positions_ = {};
  std::vector<ModelLayer> layers_ = {};  ///< with the cache of each among its inputs
  BlockSettings settings_ = {};
  bool has_final_norm_ = false;
  NormWeights<T> final_norm_ = {};
  Linear<T> head_ = {};
  std::size_t length_ = 0;
  std::vector<std::string> notes_ = {};
};

struct NextToken {
  std::size_t id = 0;
  double logit = 0;
  double p = 0;  ///< softmax of the logits
};

/// The greatest of a row of logits; of equal ones the first.
///
/// throws  Error where one is NaN: then none is the greatest
template <class T>
NextToken most_probable(std::span<const T> logits);

/// Greedy: the most probable token is taken, and the model goes on with it, `steps` times or until
/// `stop` was taken. `logits` is the row that the model made of its last token.
template <class T>
std::vector<NextToken> continue_greedily(LanguageModel<T>& model, Tensor<T, 2> logits,
                                         std::size_t steps, std::optional<std::size_t> stop);

}  // namespace qkv

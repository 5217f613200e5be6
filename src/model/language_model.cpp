// Language model: embedding, blocks with a cache each, norm, head.
#include "qkv/model/language_model.hpp"

#include <algorithm>
#include <cmath>

#include "qkv/attention/project.hpp"
#include "qkv/base/error.hpp"
#include "qkv/base/text.hpp"
#include "qkv/block/gain.hpp"
#include "qkv/block/layer_norm.hpp"
#include "qkv/block/rms_norm.hpp"
#include "qkv/text/embed.hpp"

namespace qkv {

namespace {

/// The elements as T once and for all: a step of generation converts no weight again.
template <class T>
void convert(std::optional<NamedArray>& named) {
  if (!named) return;
  Array& array = named->array;
  if (array.dtype == dtype_of<T>() && is_plain(array)) return;
  const auto memory = allocate_bytes(element_count(array.shape) * sizeof(T));
  copy_elements(array, reinterpret_cast<T*>(memory.get()));
  array = row_major_array(dtype_of<T>(), array.shape, memory.get(), memory);
}

template <class T>
void convert(ModelLayer& layer) {
  Inputs& in = layer.inputs;
  for (std::optional<NamedArray>* weight :
       {&in.wq, &in.wk, &in.wv, &in.wo, &in.wqkv, &in.bq, &in.bk, &in.bv, &in.bo, &in.bqkv,
        &in.sinks, &in.q_norm, &in.k_norm})
    convert<T>(*weight);
  BlockInputs& b = layer.block;
  for (std::optional<NamedArray>* weight : {&b.norm1_w, &b.norm1_b, &b.norm2_w, &b.norm2_b,
                                            &b.ff_w1, &b.ff_w2, &b.ff_w3, &b.ff_b1, &b.ff_b2})
    convert<T>(*weight);
}

std::string origin(const NamedArray& named) {
  return named.where + " " + shape_text(named.array.shape);
}

void require_vector(const std::optional<NamedArray>& named, const std::string& what,
                    const std::string& symbol, std::size_t width, const NamedArray& set_by,
                    Complaints& complaints) {
  if (!named || named->array.shape == Shape{width}) return;
  complaints.add({.what = what + " does not fit",
                  .where = named->where + ", (" + symbol + ")",
                  .expected = shape_text({width}) + ", " + symbol + " as in " + origin(set_by),
                  .got = shape_text(named->array.shape)});
}

/// (V,E) is out-in, as nn.Linear has it; (E,V) in-out. A square one goes by the order, else in-out.
WeightOrder order_of_head(const NamedArray& head, std::size_t V, std::size_t E, WeightOrder order,
                          std::string& note) {
  if (order != WeightOrder::automatic) return order;
  if (V != E) return head.array.shape[0] == V ? WeightOrder::out_in : WeightOrder::in_out;
  note = head.where +
         " is square: read as in-out (y = x·W); say --weight-order out-in if it is stored the "
         "other way";
  return WeightOrder::in_out;
}

}  // namespace

template <class T>
LanguageModel<T>::LanguageModel(const LanguageModelInputs& inputs,
                                const Tensor<double, 2>& positions)
    : positions_(positions), layers_(inputs.layers), settings_(inputs.settings) {
  const NamedArray& table = inputs.embedding;
  if (table.array.shape.size() != 2 || element_count(table.array.shape) == 0) {
    throw Error(Complaint{.what = "not an embedding table",
                          .where = table.where,
                          .expected = "(V,E), a row for each id",
                          .got = shape_text(table.array.shape)});
  }
  embedding_ = as_rank<T, 2>(table.array);
  Complaints complaints;
  const std::size_t E = embedding_.size(1);
  require_vector(inputs.final_norm_w, "the gain of the final norm", "E", E, table, complaints);
  if (inputs.final_norm_b && settings_.kind == NormKind::rms) {
    complaints.add({.what = "a bias for an RMS norm",
                    .where = inputs.final_norm_b->where,
                    .expected = "none: an RMS norm has a gain only",
                    .got = shape_text(inputs.final_norm_b->array.shape),
                    .hint = "--norm-kind layer has a bias"});
  } else {
    require_vector(inputs.final_norm_b, "the bias of the final norm", "E", E, table, complaints);
  }
  complaints.attempt([&] { read_head(inputs); });
  complaints.throw_if_any();

  has_final_norm_ = inputs.final_norm_w || inputs.final_norm_b;
  if (inputs.final_norm_w) final_norm_.gain = as_rank<T, 1>(inputs.final_norm_w->array);
  if (inputs.final_norm_b) final_norm_.bias = as_rank<T, 1>(inputs.final_norm_b->array);
  if (!has_final_norm_ && settings_.order == NormOrder::pre)
    notes_.emplace_back("no final_norm_w: the last block's output goes to the head as it is");
  for (ModelLayer& layer : layers_) {
    convert<T>(layer);
    layer.settings.causal = true;
  }
}

template <class T>
void LanguageModel<T>::read_head(const LanguageModelInputs& inputs) {
  const std::size_t V = embedding_.size(0), E = embedding_.size(1);
  head_ = {.weight = embedding_, .order = WeightOrder::out_in, .where = inputs.embedding.where};
  if (inputs.lm_head_w) {
    const NamedArray& head = *inputs.lm_head_w;
    const Shape& shape = head.array.shape;
    const WeightOrder order =
        layers_.empty() ? WeightOrder::automatic : layers_[0].settings.weight_order;
    const Shape in_out = {E, V}, out_in = {V, E};
    const bool fits = order == WeightOrder::in_out   ? shape == in_out
                      : order == WeightOrder::out_in ? shape == out_in
                                                     : shape == in_out || shape == out_in;
    if (!fits) {
      const std::string wanted = order == WeightOrder::in_out   ? "(E,V)"
                                 : order == WeightOrder::out_in ? "(V,E)"
                                                                : "(V,E) or (E,V)";
      throw Error(Complaint{.what = "the output head does not fit",
                            .where = head.where,
                            .expected = wanted + " with V and E as in " + origin(inputs.embedding),
                            .got = shape_text(shape)});
    }
    std::string note;
    head_ = {.weight = as_rank<T, 2>(head.array),
             .order = order_of_head(head, V, E, order, note),
             .where = head.where};
    if (!note.empty()) notes_.push_back(note);
  }
  Complaints complaints;
  require_vector(inputs.lm_head_b, "the bias of the output head", "V", V, inputs.embedding,
                 complaints);
  complaints.throw_if_any();
  if (inputs.lm_head_b) head_.bias = as_rank<T, 1>(inputs.lm_head_b->array);
}

template <class T>
Tensor<T, 3> LanguageModel<T>::embedded(std::span<const std::size_t> ids) const {
  Tensor<double, 2> places;
  if (!positions_.empty()) {
    places = Tensor<double, 2>::make({ids.size(), positions_.size(1)});
    for (std::size_t l = 0; l < ids.size(); ++l)
      std::ranges::copy(positions_.row(length_ + l), places.row(l).begin());
  }
  return embed<T>({{ids.begin(), ids.end()}}, embedding_, places);
}

template <class T>
Tensor<T, 3> LanguageModel<T>::normed(const Tensor<T, 3>& y) const {
  if (!has_final_norm_) return y;
  return with_gain(
      settings_.kind == NormKind::rms ? rms_norm(y, settings_.eps) : layer_norm(y, settings_.eps),
      final_norm_);
}

template <class T>
ModelOutput<T> LanguageModel<T>::extend(std::span<const std::size_t> ids,
                                        const OnLayerStage<T>& on_stage) {
  const std::size_t L = ids.size(), E = embedding_.size(1);
  Tensor<T, 3> x = embedded(ids);  // (1,L,E) throughout
  for (std::size_t n = 0; n < layers_.size(); ++n) {
    ModelLayer& layer = layers_[n];
    layer.inputs.x = {reshaped(as_array(x), {L, E}), "x of the tokens"};
    const BlockProblem<T> problem =
        make_block_problem<T>(layer.inputs, layer.block, layer.settings, settings_);
    if (length_ == 0) {
      for (const std::string& text : problem.notes)
        notes_.push_back("layer " + std::to_string(n) + ": " + text);
    }
    OnStage<T> of_layer;
    if (on_stage) {
      of_layer = [&](std::string_view stage, Tensor<T, 4>& value) { on_stage(n, stage, value); };
    }
    const BlockResult<T> result = block<T>(problem, of_layer);
    layer.inputs.past_k = {as_array(result.attended.present_k), "the cached keys"};
    layer.inputs.past_v = {as_array(result.attended.present_v), "the cached values"};
    x = result.out;
  }
  length_ += L;
  ModelOutput<T> output{.final_norm = normed(x)};
  output.logits = project(output.final_norm, head_).template reshaped<2>({L, vocabulary_size()});
  return output;
}

template <class T>
NextToken most_probable(std::span<const T> logits) {
  const auto nan = static_cast<std::size_t>(
      std::ranges::count_if(logits, [](T logit) { return std::isnan(logit); }));
  if (nan > 0) {
    throw Error(Complaint{.what = "no logit is the greatest",
                          .where = "logits of the next token",
                          .expected = "numbers",
                          .got = std::to_string(nan) + " NaN of " + std::to_string(logits.size()),
                          .hint = "--dump DIR with --steps 0 keeps every stage, and qkv stats "
                                  "counts the NaN in each"});
  }
  const auto greatest = std::ranges::max_element(logits);
  double sum = 0;
  for (const T logit : logits)
    sum += std::exp(static_cast<double>(logit) - static_cast<double>(*greatest));
  return {.id = static_cast<std::size_t>(greatest - logits.begin()),
          .logit = static_cast<double>(*greatest),
          .p = 1 / sum};
}

template <class T>
std::vector<NextToken> continue_greedily(LanguageModel<T>& model, Tensor<T, 2> logits,
                                         std::size_t steps, std::optional<std::size_t> stop) {
  std::vector<NextToken> taken;
  while (taken.size() < steps) {
    const std::span<const T> last = std::as_const(logits).row(logits.size(0) - 1);
    taken.push_back(most_probable(last));
    if (taken.back().id == stop || taken.size() == steps) break;
    logits = model.extend({&taken.back().id, 1}).logits;
  }
  return taken;
}

template class LanguageModel<float>;
template class LanguageModel<double>;
template NextToken most_probable(std::span<const float>);
template NextToken most_probable(std::span<const double>);
template std::vector<NextToken> continue_greedily(LanguageModel<float>&, Tensor<float, 2>,
                                                  std::size_t, std::optional<std::size_t>);
template std::vector<NextToken> continue_greedily(LanguageModel<double>&, Tensor<double, 2>,
                                                  std::size_t, std::optional<std::size_t>);

}  // namespace qkv

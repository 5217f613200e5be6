// BlockProblem: the tensors of a block brought to one arithmetic type, every convention settled.
#include "qkv/block/problem.hpp"

#include "qkv/attention/round_inputs.hpp"
#include "qkv/base/text.hpp"

namespace qkv {

namespace {

template <class T>
Linear<T> linear(const NamedArray& weight, WeightOrder order,
                 const std::optional<NamedArray>& bias) {
  Linear<T> linear;
  linear.weight = as_rank<T, 2>(weight.array);
  linear.order = order;
  if (bias) linear.bias = as_rank<T, 1>(bias->array);
  linear.where = weight.where;
  return linear;
}

constexpr std::optional<NamedArray> BlockInputs::*rounded_inputs[] = {
    &BlockInputs::norm1_w, &BlockInputs::norm1_b, &BlockInputs::norm2_w,
    &BlockInputs::norm2_b, &BlockInputs::ff_w1,   &BlockInputs::ff_w2,
    &BlockInputs::ff_w3,   &BlockInputs::ff_b1,   &BlockInputs::ff_b2};

template <class T>
NormWeights<T> norm_weights(const std::optional<NamedArray>& gain,
                            const std::optional<NamedArray>& bias) {
  NormWeights<T> weights;
  if (gain) weights.gain = as_rank<T, 1>(gain->array);
  if (bias) weights.bias = as_rank<T, 1>(bias->array);
  return weights;
}

}  // namespace

template <class T>
BlockProblem<T> make_block_problem(const Inputs& inputs, const BlockInputs& given,
                                   const Settings& settings, const BlockSettings& block_settings) {
  find_block_sizes(inputs, given, settings, block_settings);
  BlockProblem<T> problem;
  problem.settings = block_settings;
  const BlockOrders orders = find_block_orders(inputs, given, settings);
  Settings of_attention = settings;
  of_attention.weight_order = orders.attention;
  problem.attention = make_problem<T>(inputs, of_attention);
  problem.notes = problem.attention.notes;
  BlockInputs block = given;
  for (const auto input : rounded_inputs)
    round_input(block.*input, settings.arithmetic, problem.notes);
  if (!orders.note.empty()) problem.notes.push_back(orders.note);
  std::vector<std::string> no_gain;
  if (!block.norm1_w) no_gain.emplace_back("norm1_w");
  if (!block.norm2_w) no_gain.emplace_back("norm2_w");
  if (!no_gain.empty()) problem.notes.push_back("no " + listed(no_gain) + ": a gain of 1");

  problem.norm1 = norm_weights<T>(block.norm1_w, block.norm1_b);
  problem.norm2 = norm_weights<T>(block.norm2_w, block.norm2_b);
  problem.feed_forward.activation = block_settings.activation;
  problem.feed_forward.w1 = linear<T>(*block.ff_w1, orders.w1, block.ff_b1);
  problem.feed_forward.w2 = linear<T>(*block.ff_w2, orders.w2, block.ff_b2);
  if (block.ff_w3) problem.feed_forward.w3 = linear<T>(*block.ff_w3, orders.w3, {});
  return problem;
}

template BlockProblem<float> make_block_problem(const Inputs&, const BlockInputs&, const Settings&,
                                                const BlockSettings&);
template BlockProblem<double> make_block_problem(const Inputs&, const BlockInputs&, const Settings&,
                                                 const BlockSettings&);

}  // namespace qkv

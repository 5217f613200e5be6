// Problem: inputs brought to one arithmetic type and to (B,H,L,D), every convention settled.
#include "qkv/attention/problem.hpp"

#include <cmath>
#include <string>

#include "qkv/attention/fused_weights.hpp"
#include "qkv/attention/read_visibility.hpp"
#include "qkv/attention/round_inputs.hpp"
#include "qkv/attention/split_heads.hpp"
#include "qkv/base/error.hpp"
#include "qkv/base/text.hpp"
#include "shape_notes.hpp"

namespace qkv {

namespace {

/// Puts a batch axis of 1 in front where the input had none.
Array with_batch(const Array& array, bool has_batch) {
  if (has_batch) return array;
  Shape shape = array.shape;
  shape.insert(shape.begin(), 1);
  return reshaped(array, shape);
}

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

template <class T>
void read_projections(const Inputs& inputs, const WeightOrders& orders, Problem<T>& problem) {
  if (!inputs.wqkv) {
    problem.query = linear<T>(*inputs.wq, orders.wq, inputs.bq);
    problem.key = linear<T>(*inputs.wk, orders.wk, inputs.bk);
    problem.value = linear<T>(*inputs.wv, orders.wv, inputs.bv);
    return;
  }
  const Linear<T> fused = linear<T>(*inputs.wqkv, orders.wqkv, inputs.bqkv);
  split_fused(fused, problem.sizes, problem.settings.qkv_order, problem);
  // Separate biases beside a fused weight: T5-like and early ViT checkpoints have them.
  if (inputs.bq) problem.query.bias = as_rank<T, 1>(inputs.bq->array);
  if (inputs.bk) problem.key.bias = as_rank<T, 1>(inputs.bk->array);
  if (inputs.bv) problem.value.bias = as_rank<T, 1>(inputs.bv->array);
}

/// q, k or v in any of its accepted shapes -> (B,heads,length,width), where it lies
Array by_head(const NamedArray& named, std::size_t heads, const Sizes& sizes, Layout layout) {
  if (sizes.rank_four)
    return layout == Layout::blhd ? transposed(named.array, {0, 2, 1, 3}) : named.array;
  const Array array = with_batch(named.array, sizes.has_batch);
  const Shape& shape = array.shape;
  return transposed(reshaped(array, {shape[0], shape[1], heads, shape[2] / heads}), {0, 2, 1, 3});
}

/// x and context, or q, k and v.
void find_stored(const Inputs& inputs, const Settings& settings, const Sizes& sizes,
                 Stored& stored) {
  if (sizes.projects) {
    stored.x = with_batch(inputs.x->array, sizes.has_batch);
    if (inputs.context) stored.context = with_batch(inputs.context->array, sizes.has_batch);
    return;
  }
  stored.q = by_head(*inputs.q, sizes.H, sizes, settings.layout);
  stored.k = by_head(*inputs.k, sizes.G, sizes, settings.layout);
  stored.v = by_head(*inputs.v, sizes.G, sizes, settings.layout);
}

/// Positions of the queries, and of the new keys: those of the queries where there are as many keys
/// as queries, else counted on from the end of the cache.
template <class T>
void read_positions(const Inputs& inputs, Problem<T>& problem) {
  const Sizes& sizes = problem.sizes;
  if (inputs.position) {
    Array array = inputs.position->array;
    if (array.shape.size() == 1) array = reshaped(array, {1, sizes.L});
    problem.query_positions = as_rank<double, 2>(array);
  } else {
    const long long first =
        problem.settings.first_position.value_or(static_cast<long long>(sizes.P));
    problem.query_positions = Tensor<double, 2>::make({1, sizes.L});
    for (std::size_t l = 0; l < sizes.L; ++l) {
      problem.query_positions(std::size_t{0}, l) =
          static_cast<double>(first + static_cast<long long>(l));
    }
  }
  if (sizes.new_keys() == sizes.L) {
    problem.key_positions = problem.query_positions;
    return;
  }
  problem.key_positions = Tensor<double, 2>::make({1, sizes.new_keys()});
  for (std::size_t s = 0; s < sizes.new_keys(); ++s) {
    problem.key_positions(std::size_t{0}, s) = static_cast<double>(sizes.P + s);
  }
}

double scale_of(const Settings& settings, const Sizes& sizes) {
  if (settings.scale) return *settings.scale;
  if (settings.temperature) return 1.0 / *settings.temperature;
  return 1.0 / std::sqrt(static_cast<double>(sizes.D));
}

}  // namespace

template <class T>
Problem<T> make_problem(const Inputs& given, const Settings& settings, Reading reading) {
  Problem<T> problem;
  const Inputs inputs = rounded(given, settings, problem.notes);
  problem.sizes = find_sizes(inputs, settings);
  problem.settings = settings;
  problem.settings.heads = problem.sizes.H;
  problem.settings.kv_heads = problem.sizes.G;
  problem.settings.fill = rounded(settings.fill, settings.arithmetic, problem.notes);
  problem.scale = scale_of(settings, problem.sizes);
  const Sizes& sizes = problem.sizes;

  const WeightOrders orders = find_weight_orders(inputs, settings);
  if (!orders.note.empty()) problem.notes.push_back(orders.note);
  for (std::string& note : shape_notes(inputs, sizes)) problem.notes.push_back(std::move(note));
  if (sizes.projects) read_projections(inputs, orders, problem);
  Stored stored;
  find_stored(inputs, settings, sizes, stored);
  if (reading == Reading::as_stored) {
    problem.stored = std::move(stored);
  } else if (sizes.projects) {
    problem.x = as_rank<T, 3>(stored.x);
    if (sizes.has_context) problem.context = as_rank<T, 3>(stored.context);
  } else {
    problem.q = as_rank<T, 4>(stored.q);
    problem.k = as_rank<T, 4>(stored.k);
    problem.v = as_rank<T, 4>(stored.v);
  }
  if (inputs.wo) problem.output = linear<T>(*inputs.wo, orders.wo, inputs.bo);
  if (inputs.past_k) {
    problem.past_k = as_rank<T, 4>(with_batch(inputs.past_k->array, sizes.cache_has_batch));
    problem.past_v = as_rank<T, 4>(with_batch(inputs.past_v->array, sizes.cache_has_batch));
  }
  if (inputs.q_norm) problem.q_gain = as_rank<T, 1>(inputs.q_norm->array);
  if (inputs.k_norm) problem.k_gain = as_rank<T, 1>(inputs.k_norm->array);
  if (settings.rope_base) read_positions(inputs, problem);
  if (inputs.sinks) {
    problem.sinks = as_rank<T, 1>(inputs.sinks->array);
    // Where a query sees no key the sink takes all its weight: nothing is left to agree upon.
    problem.settings.empty_rows = EmptyRows::zero;
  }
  problem.visibility = read_visibility<T>(inputs, problem.settings, sizes);
  return problem;
}

template Problem<float> make_problem(const Inputs&, const Settings&, Reading);
template Problem<double> make_problem(const Inputs&, const Settings&, Reading);

}  // namespace qkv

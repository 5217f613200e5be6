// Fused weights: the columns of q, k and v picked out of one matrix, in each of the layouts that
// are in use.
#include "qkv/attention/fused_weights.hpp"

#include <vector>

namespace qkv {

namespace {

/// For each column of q, of k and of v, the column of the fused matrix that holds it.
struct Columns {
  std::vector<std::size_t> q, k, v;
};

void take(std::vector<std::size_t>& columns, std::size_t& next, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) columns.push_back(next++);
}

Columns columns_of(const Sizes& sizes, QkvOrder order) {
  const std::size_t H = sizes.H, G = sizes.G, D = sizes.D;
  Columns columns;
  std::size_t next = 0;
  switch (order) {
    case QkvOrder::blocks:  // q | k | v
      take(columns.q, next, H * D);
      take(columns.k, next, G * D);
      take(columns.v, next, G * D);
      break;
    case QkvOrder::per_head:   // (H, q k v, D), which is per_group with groups of one
    case QkvOrder::per_group:  // (G, r*q k v, D)
      for (std::size_t g = 0; g < G; ++g) {
        take(columns.q, next, H / G * D);
        take(columns.k, next, D);
        take(columns.v, next, D);
      }
      break;
  }
  return columns;
}

template <class T>
Tensor<T, 2> pick(const Tensor<T, 2>& fused, WeightOrder order,
                  const std::vector<std::size_t>& columns) {
  const bool in_out = order == WeightOrder::in_out;
  const std::size_t in = in_out ? fused.size(0) : fused.size(1), out = columns.size();
  auto weight = Tensor<T, 2>::make(in_out ? std::array{in, out} : std::array{out, in});
  for (std::size_t o = 0; o < out; ++o) {
    for (std::size_t e = 0; e < in; ++e) {
      (in_out ? weight(e, o) : weight(o, e)) = in_out ? fused(e, columns[o]) : fused(columns[o], e);
    }
  }
  return weight;
}

template <class T>
Tensor<T, 1> pick(const Tensor<T, 1>& fused, const std::vector<std::size_t>& columns) {
  if (fused.empty()) return fused;
  auto bias = Tensor<T, 1>::make({columns.size()});
  for (std::size_t o = 0; o < columns.size(); ++o) bias(o) = fused(columns[o]);
  return bias;
}

}  // namespace

template <class T>
void split_fused(const Linear<T>& fused, const Sizes& sizes, QkvOrder order, Problem<T>& problem) {
  const Columns columns = columns_of(sizes, order);
  const auto linear = [&](const std::vector<std::size_t>& picked) {
    return Linear<T>{pick(fused.weight, fused.order, picked), fused.order, pick(fused.bias, picked),
                     fused.where};
  };
  problem.query = linear(columns.q);
  problem.key = linear(columns.k);
  problem.value = linear(columns.v);
}

template <class T>
Tensor<T, 2> join_fused(const Tensor<T, 2>& q, const Tensor<T, 2>& k, const Tensor<T, 2>& v,
                        const Sizes& sizes, QkvOrder order, WeightOrder weight_order) {
  const Columns columns = columns_of(sizes, order);
  const bool in_out = weight_order == WeightOrder::in_out;
  const std::size_t in = in_out ? q.size(0) : q.size(1);
  const std::size_t out = columns.q.size() + columns.k.size() + columns.v.size();
  auto fused = Tensor<T, 2>::make(in_out ? std::array{in, out} : std::array{out, in});
  const auto put = [&](const Tensor<T, 2>& part, const std::vector<std::size_t>& at) {
    for (std::size_t o = 0; o < at.size(); ++o) {
      for (std::size_t e = 0; e < in; ++e)
        (in_out ? fused(e, at[o]) : fused(at[o], e)) = in_out ? part(e, o) : part(o, e);
    }
  };
  put(q, columns.q);
  put(k, columns.k);
  put(v, columns.v);
  return fused;
}

template <class T>
Tensor<T, 1> join_fused(const Tensor<T, 1>& q, const Tensor<T, 1>& k, const Tensor<T, 1>& v,
                        const Sizes& sizes, QkvOrder order) {
  const Columns columns = columns_of(sizes, order);
  auto fused = Tensor<T, 1>::make({columns.q.size() + columns.k.size() + columns.v.size()});
  const auto put = [&](const Tensor<T, 1>& part, const std::vector<std::size_t>& at) {
    for (std::size_t o = 0; o < at.size(); ++o) fused(at[o]) = part(o);
  };
  put(q, columns.q);
  put(k, columns.k);
  put(v, columns.v);
  return fused;
}

template Tensor<float, 2> join_fused(const Tensor<float, 2>&, const Tensor<float, 2>&,
                                     const Tensor<float, 2>&, const Sizes&, QkvOrder, WeightOrder);
template Tensor<double, 2> join_fused(const Tensor<double, 2>&, const Tensor<double, 2>&,
                                      const Tensor<double, 2>&, const Sizes&, QkvOrder,
                                      WeightOrder);
template Tensor<float, 1> join_fused(const Tensor<float, 1>&, const Tensor<float, 1>&,
                                     const Tensor<float, 1>&, const Sizes&, QkvOrder);
template Tensor<double, 1> join_fused(const Tensor<double, 1>&, const Tensor<double, 1>&,
                                      const Tensor<double, 1>&, const Sizes&, QkvOrder);
template void split_fused(const Linear<float>&, const Sizes&, QkvOrder, Problem<float>&);
template void split_fused(const Linear<double>&, const Sizes&, QkvOrder, Problem<double>&);

}  // namespace qkv

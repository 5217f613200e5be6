// Fused weights: the columns of q, k and v picked out of one matrix, in each of the layouts that
// are in use.
#include "fused_weights.hpp"

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

template void split_fused(const Linear<float>&, const Sizes&, QkvOrder, Problem<float>&);
template void split_fused(const Linear<double>&, const Sizes&, QkvOrder, Problem<double>&);

}  // namespace qkv

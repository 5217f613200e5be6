// A few queries of one batch row of a problem, with all their keys.
#include "diagnose/faults/problem_part.hpp"

#include <algorithm>

namespace qkv {

namespace {

template <class T>
Tensor<T, 4> rows_of(const Tensor<T, 4>& x, std::size_t b, std::size_t first, std::size_t count) {
  if (x.empty()) return x;
  const std::size_t from_b = x.size(0) == 1 ? 0 : b, from_l = x.size(2) == 1 ? 0 : first;
  auto y = Tensor<T, 4>::make({1, x.size(1), x.size(2) == 1 ? 1 : count, x.size(3)});
  for (std::size_t h = 0; h < y.size(1); ++h) {
    for (std::size_t l = 0; l < y.size(2); ++l)
      std::ranges::copy(x.row(from_b, h, from_l + l), y.row(0, h, l).begin());
  }
  return y;
}

Visibility<double> part_of_rules(const Visibility<double>& whole, std::size_t b, std::size_t first,
                                 std::size_t count) {
  Visibility<double> rules = whole;
  rules.B = 1;
  rules.L = count;
  // Query i of the part is query first + i of the whole.
  const auto shift = static_cast<long long>(first);
  rules.offset = {b < whole.offset.size() ? whole.offset[b] + shift : shift};
  rules.slope_offset = {b < whole.slope_offset.size() ? whole.slope_offset[b] + shift : shift};
  rules.window_offset = {b < whole.window_offset.size() ? whole.window_offset[b] + shift : shift};
  if (!whole.lengths.empty()) rules.lengths = {whole.lengths[b]};
  if (!whole.padded.empty()) {
    rules.padded = Tensor<std::uint8_t, 2>::make({1, whole.S});
    std::ranges::copy(whole.padded.row(b), rules.padded.data());
  }
  rules.hidden_by_mask = rows_of(whole.hidden_by_mask, b, first, count);
  rules.added = rows_of(whole.added, b, first, count);
  return rules;
}

}  // namespace

Tensor<double, 4> part_of_rows(const Tensor<double, 4>& x, std::size_t b, std::size_t first,
                               std::size_t count) {
  return rows_of(x, b, first, count);
}

Tensor<double, 2> part_of_positions(const Tensor<double, 2>& positions, std::size_t b,
                                    std::size_t first, std::size_t count) {
  auto y = Tensor<double, 2>::make({1, count});
  std::ranges::copy(positions.row(positions.size(0) == 1 ? 0 : b).subspan(first, count), y.data());
  return y;
}

Problem<double> part_of_problem(const Problem<double>& whole, const Tensor<double, 4>& q,
                                const Tensor<double, 4>& k, const Tensor<double, 4>& v,
                                std::size_t b, std::size_t first, std::size_t count) {
  Problem<double> part = whole;
  part.sizes.projects = part.sizes.has_context = false;
  part.sizes.B = 1;
  part.sizes.L = count;
  part.q = rows_of(q, b, first, count);
  part.k = rows_of(k, b, 0, k.size(2));
  part.v = rows_of(v, b, 0, v.size(2));
  part.past_k = rows_of(whole.past_k, b, 0, whole.sizes.P);
  part.past_v = rows_of(whole.past_v, b, 0, whole.sizes.P);
  if (!whole.query_positions.empty()) {
    part.query_positions = part_of_positions(whole.query_positions, b, first, count);
    part.key_positions = part_of_positions(whole.key_positions, b, 0, k.size(2));
  }
  part.visibility = part_of_rules(whole.visibility, b, first, count);
  return part;
}

}  // namespace qkv

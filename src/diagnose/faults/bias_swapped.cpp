// Fault bias-swapped: the biases of two projections, or of all three, stand at each other's place.
#include <array>

#include "diagnose/faults.hpp"
#include "diagnose/faults/roles.hpp"
#include "qkv/base/text.hpp"

namespace qkv::faults {

namespace {

/// For q, k and v, whose bias is added.
using Order = std::array<std::size_t, 3>;

constexpr Order orders[] = {{1, 0, 2}, {0, 2, 1}, {2, 1, 0}, {1, 2, 0}, {2, 0, 1}};

bool possible(const Problem<double>& problem, const Order& order) {
  bool moves = false;
  for (std::size_t n = 0; n < order.size(); ++n) {
    const Tensor<double, 1>& bias = (problem.*projections[order[n]].linear).bias;
    if (order[n] == n || bias.empty()) continue;
    if (bias.size() != (problem.*projections[n].linear).out()) return false;
    moves = true;
  }
  return moves;
}

Variant variant(const Problem<double>& problem, const Order& order) {
  Variant made;
  made.apply = [order](Alteration& a) {
    const std::array<Tensor<double, 1>, 3> old = {a.problem.query.bias, a.problem.key.bias,
                                                  a.problem.value.bias};
    for (std::size_t n = 0; n < order.size(); ++n)
      (a.problem.*projections[n].linear).bias = old[order[n]];
  };
  std::vector<std::string> wrong, right;
  for (std::size_t n = 0; n < order.size(); ++n) {
    const std::size_t from = order[n];
    if (from == n || (problem.*projections[from].linear).bias.empty()) continue;
    wrong.push_back(std::string(projections[from].bias) + " is added to " + projections[n].stage);
    right.push_back(std::string(projections[from].bias) + " to " + projections[from].stage);
  }
  made.message = "in your code " + listed(wrong);
  made.fix = "add " + listed(right);
  return made;
}

}  // namespace

std::vector<Variant> bias_swapped(const Case& the_case) {
  const Problem<double>& problem = the_case.problem;
  std::vector<Variant> variants;
  if (!problem.sizes.projects) return variants;
  for (const Order& order : orders) {
    if (possible(problem, order)) variants.push_back(variant(problem, order));
  }
  return variants;
}

}  // namespace qkv::faults

// The linear maps by their role: query, key, value, output.
#include "diagnose/faults/roles.hpp"

#include <algorithm>
#include <bit>

namespace qkv {

std::vector<std::vector<std::size_t>> subsets(std::size_t count) {
  std::vector<std::vector<std::size_t>> sets;
  for (std::size_t bits = 1; bits < (std::size_t{1} << count); ++bits) {
    std::vector<std::size_t> set;
    for (std::size_t n = 0; n < count; ++n) {
      if ((bits >> n & 1) != 0) set.push_back(n);
    }
    sets.push_back(std::move(set));
  }
  std::ranges::stable_sort(sets, {}, [count](const std::vector<std::size_t>& set) {
    return set.size() == count ? 0 : set.size();
  });
  return sets;
}

std::string source_of(const Case& the_case, const Role& role) {
  if (role.linear == output_map.linear) return "concat";
  const bool query = role.linear == projections[0].linear;
  return !query && the_case.problem.sizes.has_context ? "context" : "x";
}

std::string product_text(const Case& the_case, const Role& role, bool turned) {
  const bool out_in = (the_case.problem.*role.linear).order == WeightOrder::out_in;
  return source_of(the_case, role) + "·" + role.symbol + (out_in != turned ? "ᵀ" : "");
}

void turn_weight(Linear<double>& linear) {
  linear.weight = linear.weight.reshaped<2>({linear.weight.size(1), linear.weight.size(0)});
  linear.order = linear.order == WeightOrder::in_out ? WeightOrder::out_in : WeightOrder::in_out;
}

}  // namespace qkv

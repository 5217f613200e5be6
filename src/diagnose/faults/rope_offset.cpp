// Fault rope-offset: positions start elsewhere: at 0 in spite of a cache, at 1, one too early.
#include <cmath>
#include <set>

#include "diagnose/faults.hpp"
#include "diagnose/faults/rotation.hpp"
#include "diagnose/faults/rotation_probe.hpp"
#include "qkv/base/text.hpp"

namespace qkv::faults {

namespace {

struct Moved {
  bool q, k;
};

void shift(Problem<double>& problem, const Moved& moved, double by) {
  if (moved.q) problem.query_positions = shifted(problem.query_positions, by);
  if (moved.k) problem.key_positions = shifted(problem.key_positions, by);
}

/// Shifts worth trying, likeliest first.
std::vector<double> shifts(const Case& the_case, const RotationProbe& probe, const Moved& moved) {
  const Problem<double>& problem = the_case.problem;
  const Sizes& sizes = problem.sizes;
  const auto L = static_cast<double>(sizes.L), S = static_cast<double>(sizes.S),
             P = static_cast<double>(sizes.P);
  const double first = problem.query_positions.size() > 0 ? problem.query_positions.data()[0] : 0;
  std::vector<double> found = {-first, 1, -1, -P, P, S - L, L - S, L, -L, S, -S};
  // Far shifts where a trial costs a few rows, near ones where it costs all keys.
  const int far = probe.sees_rotation(moved.q, moved.k) ? 1024 : 8;
  if (probe.affordable(40, moved.q, moved.k) == 40) {
    for (int by = 1; by <= far; ++by) {
      found.push_back(by);
      found.push_back(-by);
    }
  }
  std::set<double> seen = {0};
  std::erase_if(found, [&](double by) { return !seen.insert(by).second; });
  return found;
}

std::string names(const Moved& moved) {
  return moved.q && moved.k ? "q and k" : moved.q ? "q" : "k";
}

Variant variant(const Case& the_case, const Moved& moved, double by) {
  const Problem<double>& problem = the_case.problem;
  const Tensor<double, 2>& positions = moved.q ? problem.query_positions : problem.key_positions;
  const double right = positions.size() > 0 ? positions.data()[0] : 0;
  Variant made;
  made.apply = [moved, by](Alteration& a) { shift(a.problem, moved, by); };
  made.message = "the positions of your " + names(moved) + " start at " + short_number(right + by) +
                 ", not at " + short_number(right);
  made.fix = "count the positions of " + names(moved) + " from " + short_number(right);
  if (problem.sizes.P > 0 && right == static_cast<double>(problem.sizes.P))
    made.fix += ", the length of the cache";
  if (moved.q && (moved.k || problem.sizes.L != problem.sizes.new_keys()))
    made.fix += ", or say --position " + short_number(right + by) + " if that is meant";
  return made;
}

/// Positions that were given are not used: everybody counts from `start`.
Variant counted_variant(const Case& the_case, double start) {
  const Sizes& sizes = the_case.problem.sizes;
  const auto queries = counted_positions(sizes.L, start),
             keys = counted_positions(sizes.new_keys(), start);
  Variant made;
  made.apply = [queries, keys](Alteration& a) {
    if (a.problem.query_positions.size(1) == queries.size(1)) a.problem.query_positions = queries;
    if (a.problem.key_positions.size(1) == keys.size(1)) a.problem.key_positions = keys;
  };
  made.message = "the positions of your q and k count from " + short_number(start) +
                 " in every batch row, whatever " + the_case.inputs->position->where + " says";
  made.fix = "rotate each row by its own positions, those of " + the_case.inputs->position->where;
  return made;
}

}  // namespace

std::vector<Variant> rope_offset(const Case& the_case) {
  const Problem<double>& problem = the_case.problem;
  if (!problem.settings.rope_base) return {};
  const RotationProbe probe(the_case);
  std::vector<Variant> variants;
  for (const Moved& moved : {Moved{true, true}, Moved{true, false}, Moved{false, true}}) {
    const std::vector<double> tried = shifts(the_case, probe, moved);
    std::vector<RotationProbe::Trial> trials;
    for (const double by : tried) {
      trials.push_back({.of_q = moved.q,
                        .of_k = moved.k,
                        .change = [moved, by](Problem<double>& part) { shift(part, moved, by); }});
    }
    const std::vector<std::size_t> best = ranked(probe, trials);
    if (!best.empty()) variants.push_back(variant(the_case, moved, tried[best.front()]));
  }
  if (the_case.inputs->position) {
    variants.push_back(counted_variant(the_case, static_cast<double>(problem.sizes.P)));
    if (problem.sizes.P > 0) variants.push_back(counted_variant(the_case, 0));
  }
  return variants;
}

}  // namespace qkv::faults

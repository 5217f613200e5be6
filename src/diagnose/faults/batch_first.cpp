// Fault batch-first: (B,L,E) is read as (L,B,E), so that each position attends over the batch.
#include <algorithm>

#include "diagnose/faults.hpp"
#include "diagnose/faults/rearrange.hpp"
#include "diagnose/faults/rotation.hpp"
#include "diagnose/faults/rules_over.hpp"

namespace qkv::faults {

namespace {

/// (B,L,E) -> (L,B,E)
Tensor<double, 3> exchanged(const Tensor<double, 3>& x) {
  if (x.empty()) return x;
  const auto y = exchange_batch_and_length(x.reshaped<4>({x.size(0), 1, x.size(1), x.size(2)}));
  return y.reshaped<3>({y.size(0), y.size(2), y.size(3)});
}

void exchange_positions(Problem<double>& problem, std::size_t B) {
  for (Tensor<double, 2>* positions : {&problem.query_positions, &problem.key_positions}) {
    if (positions->size() > 0) *positions = counted_positions(B, positions->data()[0]);
  }
}

void exchange_problem(Problem<double>& problem) {
  problem.x = exchanged(problem.x);
  problem.context = exchanged(problem.context);
  for (Tensor<double, 4>* given : {&problem.q, &problem.k, &problem.v}) {
    if (!given->empty()) *given = exchange_batch_and_length(*given);
  }
  const std::size_t B = problem.sizes.B, L = problem.sizes.L;
  exchange_positions(problem, B);
  // The causal rule and the window, aligned to either end, have the offset of a square.
  problem.visibility = rules_over(problem.visibility, L, problem.sizes.H, B, B);
}

/// Whether the user gave a stage that has the axes of the heads.
bool has_stage_by_head(const Case& the_case) {
  return std::ranges::any_of(the_case.got, [](const auto& entry) {
    return entry.first != "x" && entry.first != "context" && entry.first != "concat" &&
           entry.first != "out";
  });
}

}  // namespace

std::vector<Variant> batch_first(const Case& the_case) {
  const Problem<double>& problem = the_case.problem;
  const Sizes& sizes = problem.sizes;
  // Rank 4 says which axis is which; keys, and cached ones, would need the batch of the queries.
  const bool fits = sizes.has_batch && !sizes.rank_four && sizes.P == 0 && sizes.L == sizes.S;
  const bool square = sizes.B == sizes.L;
  if (!fits || sizes.B * sizes.L == 1) return {};
  if (has_shaped_rules(problem.visibility) && !square) return {};
  if (problem.query_positions.size(0) > 1) return {};

  const std::string message =
      "your code reads (B,L,E) as (L,B,E): each position attends over the batch";
  const std::string fix = "say batch_first=True, or exchange axes 0 and 1 before and after";
  const auto shown = [&](std::vector<std::string> stages) {
    std::erase_if(stages, [&](const std::string& stage) { return !the_case.has_stage(stage); });
    return stages;
  };
  const auto made = [&](const std::vector<std::string>& stages) {
    return Variant{[stages](Alteration& a) {
                     exchange_problem(a.problem);
                     for (const std::string& stage : stages)
                       a.show(stage, exchange_batch_and_length, exchange_batch_and_length);
                   },
                   message, fix};
  };
  std::vector<Variant> variants;
  variants.push_back(made(shown({"x", "context", "q", "k", "v", "q_norm", "k_norm", "q_rope",
                                 "k_rope", "heads", "concat", "out"})));
  // Stages by head, and concat, may also have been kept as they were inside, (L,H,B,D).
  if (has_stage_by_head(the_case))
    variants.push_back(made(shown({"x", "context", "concat", "out"})));
  if (the_case.got.contains("concat")) variants.push_back(made(shown({"x", "context", "out"})));
  return variants;
}

}  // namespace qkv::faults

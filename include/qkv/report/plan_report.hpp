// Plan report: what a computation would hold and do, as plain data; report/plan_<form>.cpp renders
// it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "qkv/report/report.hpp"
#include "qkv/tensor/shape.hpp"

namespace qkv {

/// Now, and when the length is twice as much.
struct Growth {
  double now = 0, doubled = 0;
};

struct PlanStage {
  std::string id, is;
  Shape shape;
  std::vector<std::string> dims;
  Growth bytes;
  bool in_one_pass = true;  ///< run holds it too
};

/// Lengths and batches beyond it are not looked at.
constexpr std::size_t plan_searched_to = std::size_t{1} << 30;

/// The most that the budget holds, up to plan_searched_to, with everything else as it is; 0 where
/// even 1 is too much.
struct PlanFit {
  std::size_t length = 0, batch = 0;
};

struct PlanReport {
  std::string headline = {};
  std::vector<ConfigEntry> config = {};
  std::vector<PlanStage> stages = {};
  std::string engine = {};                  ///< what would compute in one pass: "tiled/avx512"
  Growth step_by_step = {}, one_pass = {};  ///< bytes of everything held
  Growth working = {};                      ///< bytes that the kernel works in, of one_pass
  Growth projections = {};                  ///< multiply-adds that make q, k, v and out
  Growth scores = {}, weighted_sum = {};  ///< multiply-adds of q·kᵀ and attn·v, visible or not
  bool both_lengths = true;      ///< the length is that of queries and keys; false: of keys
  std::size_t batch = 0;         ///< B
  std::size_t length = 0;        ///< S
  double budget = 0;             ///< bytes
  std::string budget_from = {};  ///< "--budget", "80 % of what is free"
  PlanFit step_by_step_fits = {}, one_pass_fits = {};

  /// Of the stages with an (L,S) matrix for each head, step by step.
  double square_bytes() const {
    double bytes = 0;
    for (const PlanStage& stage : stages) bytes += stage.in_one_pass ? 0 : stage.bytes.now;
    return bytes;
  }
  Growth multiply_adds() const {
    return {projections.now + scores.now + weighted_sum.now,
            projections.doubled + scores.doubled + weighted_sum.doubled};
  }
};

/// Stages, growth and what fits, a table each, and what more heads do.
std::string plan_text(const PlanReport& report, const TextStyle& style);
std::string plan_json(const PlanReport& report);  ///< schema qkv.plan/1

}  // namespace qkv

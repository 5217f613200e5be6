// Check: one claim about one stage, and what testing it found.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "qkv/attention/inputs.hpp"
#include "qkv/attention/settings.hpp"
#include "qkv/attention/sizes.hpp"
#include "qkv/attention/visibility.hpp"
#include "qkv/tensor/tensor.hpp"

namespace qkv {

enum class Status { pass, warn, fail, skip };
std::string_view name(Status status);

struct CheckResult {
  std::string id = {};     ///< "softmax.row_sum"
  int step = 0;            ///< of the troubleshooting chain, 2 to 6
  std::string stage = {};  ///< what was looked at: "attn", "wq,wk"
  Status status = Status::skip;
  std::optional<double> value = {};  ///< what was measured
  std::optional<double> limit = {};  ///< what it may be at most (or at least: the message says)
  std::vector<std::size_t> at =
      {};  ///< the worst index, in the axes as the user has them (see Evidence::at)
  std::string message = {};  ///< "sums to 0.9375, limit 1 +- 5e-06 (12 of 256 rows)"
  std::string hint = {};     ///< one way to mend it
};

/// Everything that a check may look at; each part may be missing. Empty tensors were not given. All
/// by head: (B,H,L,.) and (B,G,S,.), and of sizes that agree with each other and with `visibility`.
template <class T>
struct Evidence {
  Sizes sizes = {};  ///< B, H, G, L, S, D (0: not known), Dv
  Settings settings = {};
  const Inputs* inputs = nullptr;  ///< the files as they came, or none
  double eps =
      0;  ///< of the type that the stages were rounded to (their files' type, or the arithmetic's)
  bool own = false;  ///< the stages are qkv's own: trace

  Tensor<T, 3> x = {};  ///< (B,L,E)
  Tensor<T, 4> q = {};  ///< before rotation
  Tensor<T, 4> k = {};
  Tensor<T, 4> v = {};  ///< with the cache in front: (B,G,S,Dv)
  Tensor<T, 4> scores = {};
  Tensor<T, 4> scaled = {};
  Tensor<T, 4> capped = {};
  Tensor<T, 4> masked = {};
  Tensor<T, 4> attn = {};
  Tensor<T, 4> heads = {};  ///< attn*v, (B,H,L,Dv)
  std::vector<std::pair<std::string, Tensor<T, 4>>> stages =
      {};  ///< all stages held, in order, for checks over all of them

  Tensor<T, 1> sinks = {};                    ///< (H), logits
  const Visibility<T>* visibility = nullptr;  ///< none: what is hidden is not known
  double memory_limit = 0;                    ///< bytes, 0: not known
  bool memory_limit_given =
      true;  ///< false: 80 % of what is free now, a number that changes from run to run
  double stage_bytes = 0;  ///< bytes of all stages together
  std::string largest_stage = {};
  double largest_bytes = 0;

  /// An index by (b,h,i,j) in the axes that the user's tensors have: without B or H where those had
  /// none.
  std::vector<std::size_t> at(std::size_t b, std::size_t h, std::size_t i,
                              std::optional<std::size_t> j = {}) const {
    std::vector<std::size_t> index;
    if (sizes.has_batch) index.push_back(b);
    if (sizes.has_heads) index.push_back(h);
    index.push_back(i);
    if (j) index.push_back(*j);
    return index;
  }
};

/// One row of the table of checks.
struct Check {
  std::string_view id;
  int step;
  std::string_view holds;  ///< "holds when ...", for the manual
  CheckResult (*run_float)(const Evidence<float>&);
  CheckResult (*run_double)(const Evidence<double>&);
};

/// All checks, by step.
std::span<const Check> check_list();

/// Runs one check of the list; its id and step are those of the list.
template <class T>
CheckResult run_check(const Check& check, const Evidence<T>& evidence);

/// Runs every check of the list, on up to `threads` threads; the results are in the list's order.
template <class T>
std::vector<CheckResult> run_checks(const Evidence<T>& evidence, std::size_t threads = 1);

}  // namespace qkv

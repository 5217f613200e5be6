// block.residual: what is added back is the block's own input, not its norm.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "block_checks.hpp"
#include "qkv/base/text.hpp"
#include "qkv/tensor/dtype.hpp"
#include "rounding.hpp"
#include "rows.hpp"

namespace qkv::checks {

namespace {

struct Sum {
  const char *stage, *first, *second;
};

}  // namespace

/// |sum - (a + b)| <= eps/2*|a + b| + tiny for each element: one addition, rounded once to the type
/// of the stages; tiny is half its smallest number.
template <class T>
CheckResult block_residual(const BlockEvidence<T>& evidence) {
  const bool pre = evidence.settings.order == NormOrder::pre;
  const Sum sums[] = {{"res1", "x", "out"}, {"res2", pre ? "res1" : "norm1", "ff2"}};
  // Half precision rounds the float sum once more.
  const double own = epsilon(dtype_of<T>()), eps = std::max(evidence.eps, own);
  const double unit = eps / 2 + (eps > own ? own / 2 : 0);
  const auto tiny = static_cast<double>(std::numeric_limits<T>::denorm_min());
  Worst worst;
  CheckResult result{.stage = "res1,res2", .status = Status::pass};
  const Sum* worst_sum = nullptr;
  for (const Sum& sum : sums) {
    const auto *stage = evidence.stage(sum.stage), *a = evidence.stage(sum.first),
               *b = evidence.stage(sum.second);
    if (stage == nullptr || a == nullptr || b == nullptr) continue;
    for_each_row(*stage, [&](std::size_t n, std::size_t, std::size_t i, std::span<const T> row) {
      const auto first = a->row(n, std::size_t{0}, i), second = b->row(n, std::size_t{0}, i);
      for (std::size_t e = 0; e < row.size(); ++e) {
        const double exact = static_cast<double>(first[e]) + static_cast<double>(second[e]);
        const auto got = static_cast<double>(row[e]);
        // Both NaN, or the same infinity: block.finite says where that comes from.
        if (!std::isfinite(exact) && (got == exact || std::isnan(got))) continue;
        if (overflowed(exact, got, eps)) continue;
        const double off = std::abs(got - exact);
        const double limit = unit * std::abs(exact) + tiny;
        if (worst.see(off / limit, 1, n, 0, i, e)) {
          result.value = off;
          result.limit = limit;
          worst_sum = &sum;
        }
      }
    });
  }
  if (worst.judged() == 0)
    return skipped("res1,res2", "needs res1 or res2 and what they are made of");
  if (worst.off() == 0) {
    result.message = std::string("res1 = x + out and res2 = ") + sums[1].first +
                     " + ff2 within one rounding, worst off by " + short_number(*result.value);
    return result;
  }
  result.status = Status::fail;
  result.stage = worst_sum->stage;
  result.at = block_index(evidence, worst.b(), worst.i(), worst.j());
  result.message = std::string("is not ") + worst_sum->first + " + " + worst_sum->second +
                   ": off by " + short_number(*result.value) + " " +
                   out_of(worst.off(), worst.judged(), "elements");
  result.hint = "the residual is taken before the norm, from the block's input";
  return result;
}

template CheckResult block_residual(const BlockEvidence<float>&);
template CheckResult block_residual(const BlockEvidence<double>&);

}  // namespace qkv::checks

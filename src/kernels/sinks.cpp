// What sinks leave of heads that were computed without them.
#include "sinks.hpp"

#include <cmath>

#include "part.hpp"

namespace qkv {

void settle_sinks(const Problem<float>& problem, const KernelRun& run,
                  KernelOutput<float>& output) {
  if (problem.sinks.empty()) return;
  const std::size_t first_h = run.part ? run.part->h : 0;
  for (std::size_t b = 0; b < output.lse.size(0); ++b) {
    for (std::size_t h = 0; h < output.lse.size(1); ++h) {
      for (std::size_t l = 0; l < output.lse.size(2); ++l) {
        const float lse = output.lse(b, h, l);
        if (lse == -HUGE_VALF) continue;  // a row that sees no key is settled already
        const float left = 1 / (1 + std::exp(problem.sinks(first_h + h) - lse));
        for (float& value : heads_row(output, run, b, h, l)) value *= left;
      }
    }
  }
}

}  // namespace qkv

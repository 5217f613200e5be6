// What sinks leave of heads that were computed without them.
#include "sinks.hpp"

#include <cmath>

namespace qkv {

void settle_sinks(const Problem<float>& problem, KernelOutput<float>& output) {
  if (problem.sinks.empty()) return;
  for (std::size_t b = 0; b < problem.sizes.B; ++b) {
    for (std::size_t h = 0; h < problem.sizes.H; ++h) {
      for (std::size_t l = 0; l < problem.sizes.L; ++l) {
        const float lse = output.lse(b, h, l);
        if (lse == -HUGE_VALF) continue;  // a row that sees no key is settled already
        const float left = 1 / (1 + std::exp(problem.sinks(h) - lse));
        for (float& value : output.heads.row(b, h, l)) value *= left;
      }
    }
  }
}

}  // namespace qkv

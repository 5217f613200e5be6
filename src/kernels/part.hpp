// Part: a share of the queries, and the room for what comes of it.
#pragma once

#include <array>
#include <span>

#include "qkv/kernels/kernel.hpp"

namespace qkv {

/// heads and, where wanted or needed for the sinks, lse of the run's part, to be written.
template <class T>
KernelOutput<T> make_output(const Problem<T>& problem, const KernelRun& run) {
  const Part part = run.part.value_or(whole(problem.sizes));
  const std::size_t B = part.b_end - part.b, H = part.h_end - part.h, L = part.l_end - part.l;
  const std::array<std::size_t, 4> sizes = {B, run.heads_inside ? L : H, run.heads_inside ? H : L,
                                            problem.sizes.Dv};
  KernelOutput<T> output;
  if (run.buffer == nullptr) {
    output.heads = Tensor<T, 4>::make(sizes);
  } else {
    const auto memory = run.buffer->at_least(B * H * L * problem.sizes.Dv * sizeof(T));
    output.heads = Tensor<T, 4>::over(sizes, reinterpret_cast<T*>(memory.get()), memory);
  }
  if (run.wants_lse || !problem.sinks.empty()) output.lse = Tensor<T, 3>::make({B, H, L});
  return output;
}

/// heads[b,h,l,:] of a part, by index within it.
template <class T>
std::span<T> heads_row(KernelOutput<T>& output, const KernelRun& run, std::size_t b, std::size_t h,
                       std::size_t l) {
  return run.heads_inside ? output.heads.row(b, l, h) : output.heads.row(b, h, l);
}

}  // namespace qkv

// Workload: its inputs, drawn, and its problem.
#include "workload.hpp"

#include <algorithm>
#include <cmath>

#include "qkv/tensor/random.hpp"

namespace qkv::bench {

Workload tiny(Workload work) {
  work.B = 1;
  work.H = 4 * work.H / work.G;
  work.G = 4;
  work.L = std::min<std::size_t>(work.L, 70);
  work.S = std::min<std::size_t>(work.S, 140);
  return work;
}

Tensor<float, 4> normal(const std::array<std::size_t, 4>& sizes, const char* name, float sigma) {
  auto tensor = Tensor<float, 4>::make(sizes);
  Random random(1, name);
  for (float& value : tensor.elements()) value = sigma * static_cast<float>(random.normal());
  return tensor;
}

Problem<float> problem_of(const Workload& work) {
  Problem<float> problem;
  problem.sizes.B = work.B;
  problem.sizes.H = work.H;
  problem.sizes.G = work.G;
  problem.sizes.L = work.L;
  problem.sizes.S = work.S;
  problem.sizes.D = problem.sizes.Dv = work.D;
  problem.scale = 1 / std::sqrt(static_cast<double>(work.D));
  problem.settings.causal = work.causal;
  problem.visibility.causal = work.causal;
  problem.visibility.offset.assign(work.B, static_cast<long long>(work.S - work.L));
  return problem;
}

QueryKeyValue<float> inputs_of(const Workload& work) {
  return {normal({work.B, work.H, work.L, work.D}, "q", work.sigma),
          normal({work.B, work.G, work.S, work.D}, "k", 1),
          normal({work.B, work.G, work.S, work.D}, "v", 1)};
}

const Kernel& kernel_of(const Workload& work) {
  return *std::ranges::find(kernel_list(), work.kernel, &Kernel::name);
}

double operations(const Workload& work) {
  const double all = 4.0 * static_cast<double>(work.B * work.H * work.L * work.S * work.D);
  const double L = static_cast<double>(work.L);
  return work.causal ? all * (L + 1) / (2 * L) : all;
}

}  // namespace qkv::bench

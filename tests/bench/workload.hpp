// Workload: what the benchmarks of the kernels compute.
#pragma once

#include <array>
#include <chrono>
#include <string>

#include "qkv/attention/pipeline.hpp"
#include "qkv/kernels/kernel.hpp"

namespace qkv::bench {

/// Against what a workload is measured.
enum class Limit { multiply_add, read };

struct Workload {
  std::string name;
  std::string kernel;
  Limit limit;
  std::size_t B, H, G, L, S, D;
  bool causal = false;
  float sigma = 1;  ///< standard deviation of the scaled scores
};

/// Every size brought down to what takes milliseconds in a build without optimisation.
Workload tiny(Workload work);

Tensor<float, 4> normal(const std::array<std::size_t, 4>& sizes, const char* name, float sigma);

Problem<float> problem_of(const Workload& work);

QueryKeyValue<float> inputs_of(const Workload& work);

/// The kernel of that name.
const Kernel& kernel_of(const Workload& work);

/// 4·B·H·L·S·D, of which a causal mask leaves about half: those are counted.
double operations(const Workload& work);

/// Seconds of one run.
template <class Work>
double seconds_of(const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Masks, layouts and windows beside the same without them, and the statistics of a tensor.
void register_variants(bool is_tiny);

}  // namespace qkv::bench

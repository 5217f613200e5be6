// What keeps the multiply-add units of one core busy, with the instructions that the including file
// is built for.
#pragma once

namespace qkv::bench {
namespace {

#if defined(__AVX512F__)
constexpr int peak_lanes = 16;
#elif defined(__AVX__)
constexpr int peak_lanes = 8;
#else
constexpr int peak_lanes = 4;
#endif
typedef float PeakVec __attribute__((vector_size(4 * peak_lanes)));

/// Independent multiply-adds on registers, for some 50 µs. Returns how many operations they were.
/// No clock in here: the linker may keep an inline function of this file for everyone.
double multiply_add() {
  constexpr int chains = 12, rounds = 10000;
  PeakVec sums[chains];
  const PeakVec factor = PeakVec{} + 0.999F;
#pragma GCC unroll 16
  for (int n = 0; n < chains; ++n) sums[n] = PeakVec{} + static_cast<float>(n);
  for (int round = 0; round < rounds; ++round) {
#pragma GCC unroll 16
    for (int n = 0; n < chains; ++n) sums[n] = sums[n] * factor + factor;
    asm volatile("");  // the rounds are not to be merged
  }
  PeakVec all{};
#pragma GCC unroll 16
  for (int n = 0; n < chains; ++n) all += sums[n];
  [[maybe_unused]] volatile float used = all[0];
  return 2.0 * chains * peak_lanes * rounds;
}

}  // namespace
}  // namespace qkv::bench

// Random numbers that are the same on every machine: integers and IEEE operations only, no libm.
#pragma once

#include <cstdint>
#include <string_view>

namespace qkv {

/// A stream of numbers from a seed and a name, so that each tensor has its own, whatever else is
/// made.
///
/// source  SplitMix64: Steele, Lea & Flood 2014, "Fast splittable pseudorandom number generators"
class Random {
 public:
  Random(std::uint64_t seed, std::string_view name);

  std::uint64_t bits();
  /// In [0,1), 53 bits.
  double uniform();
  /// Mean 0, variance 1.
  /// source  Marsaglia & Bray 1964, polar method
  double normal();

 private:
  std::uint64_t state_;
};

/// ln x for a normal positive x, from +, -, *, / alone, so that it rounds alike everywhere; within
/// 4 ulp.
double portable_log(double x);

}  // namespace qkv

// twins: every kernel with every instruction set of this CPU, held against the reference.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "qkv/attention/inputs.hpp"
#include "qkv/attention/settings.hpp"
#include "qkv/tensor/tensor.hpp"

namespace qkv::test {

/// A problem to compute: q (B,H,L,D), k (B,G,S,D), v (B,G,S,Dv), and what else it is given.
struct TwinCase {
  std::size_t B = 1, H = 2, G = 1, L = 1, S = 1, D = 5, Dv = 3;
  double sigma = 1;  ///< standard deviation of the scaled scores
  Settings settings = {};
  Inputs inputs = {};
};

/// Fills in q, k and v, normal numbers, and the settings' heads.
TwinCase twin_case(TwinCase sizes);

/// Normal numbers from a seed.
Tensor<float, 4> normal_tensor(const std::array<std::size_t, 4>& sizes, const std::string& seed,
                               double sigma = 1);

NamedArray named(const Array& array);

/// How kernels depart from the reference on this problem, "" where none does: heads and lse are
/// NaN, infinite and finite in the same places as those of the float reference; against the double
/// reference the root mean square error is at most twice the float reference's own, and the
/// greatest three times, which is a matter of luck where few rows count; four roundings of the
/// greatest value beside.
std::string departures(const TwinCase& twin, std::size_t threads = 1);

}  // namespace qkv::test

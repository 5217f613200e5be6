// Exponentials and logarithms of whole rows, in double, several at a time.
#pragma once

#include <cstddef>
#include <span>

namespace qkv {

/// x = e^x for each element.
///
/// range   x <= 0; within 2 ulp; below -708 it is 0 (no denormals)
/// edge    -Inf gives 0, NaN stays NaN
void exponentials(std::span<double> x);

/// The sum of w*ln(w) over the elements, where 0*ln(0) is 0.
///
/// range   each logarithm within 1e-13
/// edge    a negative number or a NaN gives NaN
double sum_of_w_log_w(std::span<const float> w);
double sum_of_w_log_w(std::span<const double> w);

}  // namespace qkv

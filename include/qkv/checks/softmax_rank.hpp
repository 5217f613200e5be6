// Rank of log attn: whether queries and keys of width D can have made these weights at all.
#pragma once

#include <cstddef>

#include "qkv/tensor/tensor.hpp"

namespace qkv {

/// What is certain about a matrix that is known up to bounded errors.
struct RankFinding {
  std::size_t rank = 0;  ///< no matrix within the errors has a lower rank
  /// For that many rows and columns, chosen far from dependent: a lower bound of their least
  /// singular value, and an upper bound of the errors in them (Frobenius norm). smallest > noise.
  double smallest = 0;
  double noise = 0;
};

/// Rank that a matrix has whatever its errors are, counted up to `most`.
///
/// Elimination with the largest pivot anywhere (cross approximation) chooses r rows and columns,
/// which make a square part A. If the exact matrix had a rank below r, its part A + N, where
/// |N_ij| <= errors_ij, would be singular, and so the least singular value of A at most ||N||_2 <=
/// ||N||_F (Eckart & Young 1936). From below it is bounded by 1/||A^-1||_F, and that by a computed
/// inverse X and what it lacks: ||A^-1||_F <= ||X||_F / (1 - ||I - A*X||_F). So a finding is a
/// proof; the choice of rows and columns decides only how much of the rank is seen.
///
/// shape   matrix (L,S); errors (L,S), not negative
/// cost    most*L*S operations, and r^3 for each r that is tried
RankFinding certain_rank(const Tensor<double, 2>& matrix, const Tensor<double, 2>& errors,
                         std::size_t most);

/// Rank that log attn, centred by row, has at least, for weights of one head where no key is hidden
/// and nothing was added to the scores. Then log attn[i,j] = scale * q_i*k_j - lse_i, and centring
/// the rows removes lse_i: the rank is at most D, the width of q and k.
///
/// shape   attn (L,S), every weight above 0; log_errors (L,S), how far each logarithm may be off
/// edge    the rank is at most min(L, S - 1), whatever made the weights
/// throws  Error if a weight is not above 0
RankFinding log_rank(const Tensor<double, 2>& attn, const Tensor<double, 2>& log_errors,
                     std::size_t most);

/// The same for weights that are known to within `rounding`: 5e-5 for four printed digits. The
/// logarithm of a weight a is then known to within -log(1 - rounding/a).
///
/// throws  Error if a weight is not above the rounding
RankFinding log_rank(const Tensor<double, 2>& attn, double rounding);

}  // namespace qkv

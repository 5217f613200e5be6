// user_heads(): the heads that the user's tensors imply.
#include "user_heads.hpp"

#include <cmath>
#include <utility>
#include <vector>

#include "elementwise.hpp"
#include "follow.hpp"
#include "qkv/attention/split_heads.hpp"

namespace qkv::faults {

namespace {

/// Square matrix, row-major.
struct Matrix {
  std::size_t N = 0;
  std::vector<double> at;
  double& operator()(std::size_t i, std::size_t j) { return at[i * N + j]; }
};

/// The inverse by Gauss-Jordan elimination with the greatest pivot of each column; none where a
/// pivot is nothing but rounding.
std::optional<Matrix> inverse(Matrix a) {
  const std::size_t N = a.N;
  Matrix y{N, std::vector<double>(N * N, 0)};
  double greatest = 0;
  for (std::size_t i = 0; i < N; ++i) {
    y(i, i) = 1;
    greatest = std::max(greatest, std::abs(a(i, i)));
  }
  for (std::size_t column = 0; column < N; ++column) {
    std::size_t pivot = column;
    for (std::size_t i = column + 1; i < N; ++i)
      if (std::abs(a(i, column)) > std::abs(a(pivot, column))) pivot = i;
    if (!(std::abs(a(pivot, column)) > 1e-9 * greatest)) return std::nullopt;
    for (std::size_t j = 0; j < N; ++j) {
      std::swap(a(pivot, j), a(column, j));
      std::swap(y(pivot, j), y(column, j));
    }
    const double scale = 1 / a(column, column);
    for (std::size_t j = 0; j < N; ++j) {
      a(column, j) *= scale;
      y(column, j) *= scale;
    }
    for (std::size_t i = 0; i < N; ++i) {
      const double factor = a(i, column);
      if (i == column || factor == 0) continue;
      for (std::size_t j = 0; j < N; ++j) {
        a(i, j) -= factor * a(column, j);
        y(i, j) -= factor * y(column, j);
      }
    }
  }
  return y;
}

double weight(const Linear<double>& linear, std::size_t in, std::size_t out) {
  return linear.order == WeightOrder::in_out ? linear.weight(in, out) : linear.weight(out, in);
}

/// W_O^+ = W_O^T (W_O W_O^T)^-1, (E,N): concat = (out - b) W_O^+
std::optional<Tensor<double, 2>> undone(const Linear<double>& output) {
  const std::size_t N = output.in(), E = output.out();
  constexpr std::size_t widest = 256;
  if (E < N || N > widest) return std::nullopt;
  Matrix gram{N, std::vector<double>(N * N, 0)};
  for (std::size_t i = 0; i < N; ++i) {
    for (std::size_t j = 0; j < N; ++j) {
      for (std::size_t e = 0; e < E; ++e) gram(i, j) += weight(output, i, e) * weight(output, j, e);
    }
  }
  std::optional<Matrix> inverted = inverse(std::move(gram));
  if (!inverted) return std::nullopt;
  auto back = Tensor<double, 2>::make({E, N});
  for (std::size_t e = 0; e < E; ++e) {
    for (std::size_t j = 0; j < N; ++j) {
      for (std::size_t i = 0; i < N; ++i) back(e, j) += weight(output, i, e) * (*inverted)(i, j);
    }
  }
  return back;
}

/// (B,1,L,H*Dv) -> (B,H,L,Dv)
Tensor<double, 4> by_head(const Tensor<double, 4>& flat, std::size_t H) {
  return split_heads(flat.reshaped<3>({flat.size(0), flat.size(2), flat.size(3)}), H);
}

UserHeads as_they_are(const Tensor<double, 4>& heads, double eps) {
  return {heads, elementwise(heads, [eps](double value) { return eps * std::abs(value); })};
}

}  // namespace

std::optional<UserHeads> user_heads(const Case& the_case) {
  const Problem<double>& problem = the_case.problem;
  const Sizes& sizes = problem.sizes;
  const double eps = the_case.eps;
  if (const auto* heads = given(the_case, "heads")) return as_they_are(*heads, eps);
  if (const auto* concat = given(the_case, "concat"))
    return as_they_are(by_head(*concat, sizes.H), eps);
  const Tensor<double, 4>* out = given(the_case, "out");
  if (out == nullptr) return std::nullopt;
  if (!sizes.has_wo) {
    if (!sizes.rank_four) return as_they_are(by_head(*out, sizes.H), eps);
    return as_they_are(
        problem.settings.layout == Layout::blhd ? exchange_heads_and_length(*out) : *out, eps);
  }
  const auto back = undone(problem.output);
  if (!back) return std::nullopt;
  const std::size_t N = back->size(1), E = back->size(0);
  auto concat = Tensor<double, 4>::make({sizes.B, 1, sizes.L, N}), error = concat.clone();
  for (std::size_t b = 0; b < sizes.B; ++b) {
    for (std::size_t l = 0; l < sizes.L; ++l) {
      for (std::size_t e = 0; e < E; ++e) {
        const double bias = problem.output.bias.empty() ? 0 : problem.output.bias(e);
        const double y = (*out)(b, 0, l, e), size = std::abs(y) + std::abs(bias);
        for (std::size_t n = 0; n < N; ++n) {
          concat(b, 0, l, n) += (y - bias) * (*back)(e, n);
          error(b, 0, l, n) += eps * size * std::abs((*back)(e, n));
        }
      }
    }
  }
  return UserHeads{by_head(concat, sizes.H), by_head(error, sizes.H)};
}

}  // namespace qkv::faults

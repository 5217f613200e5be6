// Rank of log attn, and of any matrix that is known up to bounded errors.
#include <algorithm>
#include <cmath>
#include <vector>

#include "qkv/base/error.hpp"
#include "qkv/base/text.hpp"
#include "qkv/checks/softmax_rank.hpp"

namespace qkv {

namespace {

using Matrix = Tensor<double, 2>;

/// to -= factor * from
void subtract(std::span<double> to, double factor, std::span<const double> from) {
  if (factor == 0) return;
  for (std::size_t j = 0; j < to.size(); ++j) to[j] -= factor * from[j];
}

/// Position of the greatest |value|.
std::size_t greatest(std::span<const double> row) {
  std::size_t best = 0;
  double size = -1;
  for (std::size_t j = 0; j < row.size(); ++j) {
    if (std::abs(row[j]) > size) {
      size = std::abs(row[j]);
      best = j;
    }
  }
  return best;
}

struct Pivots {
  std::vector<std::size_t> rows, columns;
};

/// Rows and columns in the order in which elimination with complete pivoting takes them. It ends
/// where the largest pivot left is below an error of what was taken: the reciprocal of the pivot is
/// an element of the inverse, so the least singular value is smaller still.
Pivots choose_pivots(const Matrix& matrix, const Matrix& errors, std::size_t most) {
  Matrix rest = matrix.clone();
  Pivots pivots;
  double noise = 0;
  while (pivots.rows.size() < most) {
    std::size_t row = 0, column = 0;
    double pivot = 0;
    for (std::size_t i = 0; i < rest.size(0); ++i) {
      const std::size_t j = greatest(rest.row(i));
      if (std::abs(rest(i, j)) > std::abs(pivot)) {
        pivot = rest(i, j);
        row = i;
        column = j;
      }
    }
    noise = std::max(noise, errors(row, column));
    if (!(std::abs(pivot) > noise)) break;
    pivots.rows.push_back(row);
    pivots.columns.push_back(column);
    for (std::size_t i = 0; i < rest.size(0); ++i) {
      if (i == row) continue;
      subtract(rest.row(i), rest(i, column) / pivot, rest.row(row));
      rest(i, column) = 0;
    }
    std::ranges::fill(rest.row(row), 0.0);
  }
  return pivots;
}

/// Inverse after Gauss and Jordan; the choice of pivots has put them on the diagonal.
Matrix inverse(const Matrix& a) {
  const std::size_t n = a.size(0);
  Matrix left = a.clone(), right = Matrix::make({n, n});
  for (std::size_t i = 0; i < n; ++i) right(i, i) = 1;
  for (std::size_t p = 0; p < n; ++p) {
    const double pivot = left(p, p);
    for (double& value : left.row(p)) value /= pivot;
    for (double& value : right.row(p)) value /= pivot;
    for (std::size_t i = 0; i < n; ++i) {
      if (i == p) continue;
      const double factor = left(i, p);
      subtract(left.row(i), factor, left.row(p));
      subtract(right.row(i), factor, right.row(p));
    }
  }
  return right;
}

double frobenius(std::span<const double> elements) {
  double sum = 0;
  for (const double value : elements) sum += value * value;
  return std::sqrt(sum);
}

/// The least singular value of a, from below; 0 where nothing can be said.
double least_singular_value(const Matrix& a) {
  const std::size_t n = a.size(0);
  const Matrix x = inverse(a);
  Matrix lacks = Matrix::make({n, n});  // I - a*x
  for (std::size_t i = 0; i < n; ++i) {
    lacks(i, i) = 1;
    for (std::size_t k = 0; k < n; ++k) subtract(lacks.row(i), a(i, k), x.row(k));
  }
  const double norm = frobenius(x.elements());
  // What is lacking is itself known only up to the rounding of n products and sums.
  const double rounding = static_cast<double>(n + 1) * 0x1p-52 * frobenius(a.elements()) * norm;
  const double missing = frobenius(lacks.elements()) + rounding;
  return missing < 1 ? (1 - missing) / norm : 0;  // false for the NaN of a singular a
}

Matrix part(const Matrix& matrix, const Pivots& pivots, std::size_t r) {
  Matrix square = Matrix::make({r, r});
  for (std::size_t i = 0; i < r; ++i) {
    for (std::size_t j = 0; j < r; ++j) square(i, j) = matrix(pivots.rows[i], pivots.columns[j]);
  }
  return square;
}

/// Subtracts the mean of each row; the errors grow by that of the mean and by the rounding here.
void centre_rows(Matrix& logs, Matrix& errors) {
  const auto count = static_cast<double>(logs.size(1));
  for (std::size_t i = 0; i < logs.size(0); ++i) {
    double mean = 0, mean_error = 0, size = 0;
    for (const double value : logs.row(i)) {
      mean += value / count;
      size = std::max(size, std::abs(value));
    }
    for (const double error : errors.row(i)) mean_error += error / count;
    const double own = (count + 4) * 0x1p-53 * size;  // log, the mean of S terms, the difference
    for (double& value : logs.row(i)) value -= mean;
    for (double& error : errors.row(i)) error += mean_error + own;
  }
}

void require_above(const Matrix& attn, double least, const char* least_text) {
  for (std::size_t i = 0; i < attn.size(0); ++i) {
    for (std::size_t j = 0; j < attn.size(1); ++j) {
      const double weight = attn(i, j);
      if (weight > least && std::isfinite(weight)) continue;
      throw Error(Complaint{.what = "weight has no certain logarithm",
                            .where = "attn" + index_text({i, j}),
                            .expected = least_text + short_number(least),
                            .got = short_number(weight)});
    }
  }
}

}  // namespace

RankFinding certain_rank(const Tensor<double, 2>& matrix, const Tensor<double, 2>& errors,
                         std::size_t most) {
  if (matrix.size() == 0) return {};
  const Pivots pivots =
      choose_pivots(matrix, errors, std::min({most, matrix.size(0), matrix.size(1)}));
  std::size_t r = pivots.rows.size();
  while (r > 0) {
    const double smallest = least_singular_value(part(matrix, pivots, r));
    const double noise = frobenius(part(errors, pivots, r).elements());
    if (smallest > noise) return {.rank = r, .smallest = smallest, .noise = noise};
    r -= 1 + r / 16;  // one less where a try is cheap, larger steps where it is not
  }
  return {};
}

RankFinding log_rank(const Tensor<double, 2>& attn, const Tensor<double, 2>& log_errors,
                     std::size_t most) {
  require_above(attn, 0, "a number above ");
  Matrix logs = attn.clone(), errors = log_errors.clone();
  for (double& value : logs.elements()) value = std::log(value);
  centre_rows(logs, errors);
  return certain_rank(logs, errors, most);
}

RankFinding log_rank(const Tensor<double, 2>& attn, double rounding) {
  require_above(attn, rounding, "more than the rounding ");
  Matrix errors = attn.clone();
  for (double& value : errors.elements()) value = -std::log1p(-rounding / value);
  return log_rank(attn, errors, std::min(attn.size(0), attn.size(1)));
}

}  // namespace qkv

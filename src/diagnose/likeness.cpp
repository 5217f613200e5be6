// Likeness of matrices, keys and rules.
#include "diagnose/likeness.hpp"

namespace qkv {

namespace {

/// visit(b, h, i, j) until it returns true; whether it did.
template <class Visit>
bool any_place(const Visibility<double>& visibility, Visit&& visit) {
  for (std::size_t b = 0; b < visibility.B; ++b) {
    for (std::size_t h = 0; h < visibility.H; ++h) {
      for (std::size_t i = 0; i < visibility.L; ++i) {
        for (std::size_t j = 0; j < visibility.S; ++j) {
          if (visit(b, h, i, j)) return true;
        }
      }
    }
  }
  return false;
}

}  // namespace

bool symmetric(const Tensor<double, 2>& matrix) {
  if (matrix.size(0) != matrix.size(1)) return false;
  for (std::size_t row = 0; row < matrix.size(0); ++row) {
    for (std::size_t column = 0; column < row; ++column) {
      if (matrix(row, column) != matrix(column, row)) return false;
    }
  }
  return true;
}

bool identity(const Tensor<double, 2>& matrix) {
  if (!symmetric(matrix)) return false;
  for (std::size_t row = 0; row < matrix.size(0); ++row) {
    for (std::size_t column = 0; column <= row; ++column) {
      if (matrix(row, column) != (row == column ? 1 : 0)) return false;
    }
  }
  return true;
}

bool alike_along_keys(const Tensor<double, 4>& k) {
  if (k.size(2) < 2) return false;
  for (std::size_t b = 0; b < k.size(0); ++b) {
    for (std::size_t g = 0; g < k.size(1); ++g) {
      for (std::size_t j = 1; j < k.size(2); ++j) {
        if (!std::ranges::equal(k.row(b, g, j), k.row(b, g, std::size_t{0}))) return false;
      }
    }
  }
  return true;
}

bool hides_something(const Visibility<double>& visibility) {
  return any_place(visibility, [&](std::size_t b, std::size_t h, std::size_t i, std::size_t j) {
    return visibility.hidden(b, h, i, j);
  });
}

bool same_rules(const Visibility<double>& a, const Visibility<double>& b) {
  return !any_place(a, [&](std::size_t n, std::size_t h, std::size_t i, std::size_t j) {
    const bool hidden = a.hidden(n, h, i, j);
    if (hidden != b.hidden(n, h, i, j)) return true;
    return !hidden && a.bias(n, h, i, j) != b.bias(n, h, i, j);
  });
}

bool changes_nothing(const Case& the_case, const std::vector<Variant>& variants) {
  for (const Variant& variant : variants) {
    Alteration alteration{.problem = the_case.problem};
    variant.apply(alteration);
    if (!alteration.edits.empty() ||
        !same_rules(the_case.problem.visibility, alteration.problem.visibility)) {
      return false;
    }
  }
  return !variants.empty();
}

}  // namespace qkv

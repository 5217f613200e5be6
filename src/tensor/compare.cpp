// Comparison: two arrays side by side, a block at a time.
#include "qkv/tensor/compare.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "qkv/base/error.hpp"
#include "qkv/base/text.hpp"
#include "tensor/elements.hpp"
#include "tensor/ulp.hpp"

namespace qkv {

namespace {

constexpr std::size_t block_size = 4096;

/// An integer of any type that a file may hold.
struct Whole {
  bool negative = false;
  std::uint64_t magnitude = 0;
};

bool is_wide(DType dtype) { return dtype == DType::int64 || dtype == DType::uint64; }

void copy_wholes(const Elements& elements, DType dtype, std::size_t first, std::size_t size,
                 Whole* out) {
  std::array<std::uint64_t, block_size> bits;
  if (is_wide(dtype)) {
    elements.copy_raw(first, size, reinterpret_cast<std::byte*>(bits.data()));
  } else {
    std::array<double, block_size> values;
    elements.copy(first, size, values.data());
    for (std::size_t n = 0; n < size; ++n)
      bits[n] = static_cast<std::uint64_t>(static_cast<std::int64_t>(values[n]));
  }
  for (std::size_t n = 0; n < size; ++n) {
    const bool negative = dtype != DType::uint64 && (bits[n] >> 63) != 0;
    out[n] = {negative, negative ? 0 - bits[n] : bits[n]};
  }
}

/// |a - b|, rounded once: integers beyond 2^53 that differ by 1 are 1 apart.
double distance(const Whole& a, const Whole& b) {
  if (a.negative != b.negative)
    return static_cast<double>(a.magnitude) + static_cast<double>(b.magnitude);
  return static_cast<double>(std::max(a.magnitude, b.magnitude) -
                             std::min(a.magnitude, b.magnitude));
}

/// The type that ULPs are counted in, or none where both are exact.
std::optional<DType> coarser_float(DType a, DType b) {
  if (!is_float(a) && !is_float(b)) return std::nullopt;
  return epsilon(a) >= epsilon(b) ? a : b;
}

/// What has been found so far, and how the next pair changes it.
class Tally {
 public:
  Tally(const Tolerance& tolerance, std::optional<DType> ulp_type)
      : tolerance_(tolerance), ulp_type_(ulp_type) {}

  /// `apart` is |a - b|, which the caller may know better than double subtraction does.
  void add(double a, double b, double apart) {
    const std::size_t at = found_.count++;
    if (std::isfinite(a) && std::isfinite(b)) {
      add_finite(a, b, apart, at);
    } else if (!(a == b || (tolerance_.equal_nan && std::isnan(a) && std::isnan(b)))) {
      differs(at);
      if (++found_.non_finite_differing == 1) first_non_finite_ = at;
      add_ulp(a, b);
    }
  }

  Comparison result() const {
    Comparison result = found_;
    result.max_abs = result.finite_max_abs;
    result.max_abs_at = result.finite_max_abs_at;
    if (result.non_finite_differing > 0) {
      result.max_abs = std::numeric_limits<double>::quiet_NaN();
      result.max_abs_at = first_non_finite_;
    }
    return result;
  }

 private:
  void add_finite(double a, double b, double apart, std::size_t at) {
    if (apart == 0) return;
    const double size = std::abs(b);
    if (!(apart <= tolerance_.atol + tolerance_.rtol * size)) differs(at);
    if (apart > found_.finite_max_abs) {
      found_.finite_max_abs = apart;
      found_.finite_max_abs_at = at;
    }
    if (size > 0 && apart / size > found_.max_rel) {
      found_.max_rel = apart / size;
      found_.max_rel_at = at;
    }
    add_ulp(a, b);
  }

  void add_ulp(double a, double b) {
    if (!ulp_type_) return;
    const bool unreachable = std::isnan(a) || std::isnan(b);
    found_.max_ulp =
        std::max(found_.max_ulp, unreachable ? no_ulp : ulp_distance(a, b, *ulp_type_));
  }

  void differs(std::size_t at) {
    if (found_.differing++ == 0) found_.first_at = at;
  }

  Tolerance tolerance_;
  std::optional<DType> ulp_type_;
  Comparison found_ = {};
  std::size_t first_non_finite_ = 0;
};

}  // namespace

Tolerance default_tolerance(DType a, DType b) {
  const auto of = [](DType dtype) -> Tolerance {
    switch (dtype) {
      case DType::float16:
        return {.rtol = 1e-3, .atol = 1e-5};
      case DType::bfloat16:
        return {.rtol = 1.6e-2, .atol = 1e-5};
      case DType::float32:
        return {.rtol = 1.3e-6, .atol = 1e-5};
      case DType::float64:
        return {.rtol = 1e-7, .atol = 1e-7};
      default:
        return {};
    }
  };
  return {.rtol = std::max(of(a).rtol, of(b).rtol), .atol = std::max(of(a).atol, of(b).atol)};
}

Comparison compare(const Array& a, const Array& b, const Tolerance& tolerance) {
  if (a.shape != b.shape) {
    throw Error(Complaint{.what = "shapes differ",
                          .expected = shape_text(b.shape) + " as the second tensor has",
                          .got = shape_text(a.shape)});
  }
  const Elements in_a(a);
  const Elements in_b(b);
  const bool as_wholes =
      !is_float(a.dtype) && !is_float(b.dtype) && (is_wide(a.dtype) || is_wide(b.dtype));
  Tally tally(tolerance, coarser_float(a.dtype, b.dtype));
  std::array<double, block_size> values_a, values_b;
  std::array<Whole, block_size> wholes_a, wholes_b;
  for (std::size_t first = 0; first < in_a.count(); first += block_size) {
    const std::size_t size = std::min(block_size, in_a.count() - first);
    in_a.copy(first, size, values_a.data());
    in_b.copy(first, size, values_b.data());
    if (as_wholes) {
      copy_wholes(in_a, a.dtype, first, size, wholes_a.data());
      copy_wholes(in_b, b.dtype, first, size, wholes_b.data());
    }
    for (std::size_t n = 0; n < size; ++n) {
      const double apart =
          as_wholes ? distance(wholes_a[n], wholes_b[n]) : std::abs(values_a[n] - values_b[n]);
      tally.add(values_a[n], values_b[n], apart);
    }
  }
  return tally.result();
}

}  // namespace qkv

// Element format: a first look over all elements decides form and widths, a second prints them.
#include "report/element_format.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "qkv/tensor/half.hpp"
#include "report/number_digits.hpp"

namespace qkv {

namespace {

std::string right_aligned(const std::string& text, std::size_t width) {
  return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
}

/// a/b as NumPy divides elements of the type: its rule for the form compares this quotient.
double quotient(double a, double b, DType dtype) {
  if (dtype == DType::float64) return a / b;
  const float narrow = static_cast<float>(a) / static_cast<float>(b);
  return dtype == DType::float16 ? float16_to_float(float_to_float16(narrow)) : narrow;
}

/// Characters before and behind the point.
std::pair<std::size_t, std::size_t> sides(const std::string& number) {
  const std::size_t point = number.find('.');
  return {point, number.size() - point - 1};
}

}  // namespace

ElementFormat::ElementFormat(const Array& array, const ForEachShown& for_each_shown, int precision)
    : dtype_(array.dtype), swapped_(array.swapped), precision_(precision) {
  if (is_float(dtype_)) {
    fit_floats(for_each_shown);
  } else if (is_integer(dtype_)) {
    fit_integers(for_each_shown);
  }
}

void ElementFormat::fit_floats(const ForEachShown& for_each_shown) {
  double most = 0;
  double least = std::numeric_limits<double>::infinity();
  bool finite = false, other = false, negative_infinity = false;
  for_each_shown([&](const std::byte* element) {
    const double value = number(element);
    if (!std::isfinite(value)) {
      other = true;
      negative_infinity = negative_infinity || (std::isinf(value) && value < 0);
      return;
    }
    finite = true;
    if (value == 0) return;
    most = std::max(most, std::abs(value));
    least = std::min(least, std::abs(value));
  });
  exponents_ = most > 0 && (most >= 1e8 || least < 1e-4 || quotient(most, least, dtype_) > 1000);

  if (finite) {
    for_each_shown([&](const std::byte* element) {
      const double value = number(element);
      if (!std::isfinite(value)) return;
      std::string text;
      if (exponents_) {
        auto [significand, exponent] = scientific(value, dtype_, precision_, 0);
        exponent_size_ = std::max(exponent_size_, exponent.size() - 1);
        text = std::move(significand);
      } else {
        text = positional(value, dtype_, precision_, WholePart::shortest);
      }
      const auto [before, behind] = sides(text);
      left_ = std::max(left_, before);
      right_ = std::max(right_, behind);
    });
  }
  if (exponents_) {
    precision_ = static_cast<int>(right_);
    right_ += exponent_size_ + 2;  // "e" and its sign
  }
  if (other) {
    const std::size_t width = negative_infinity ? 4 : 3;
    if (left_ + right_ + 1 < width) left_ = width - right_ - 1;
  }
}

void ElementFormat::fit_integers(const ForEachShown& for_each_shown) {
  for_each_shown(
      [&](const std::byte* element) { left_ = std::max(left_, integer(element).size()); });
}

std::string ElementFormat::operator()(const std::byte* element) const {
  if (is_float(dtype_)) return padded_float(number(element));
  if (is_integer(dtype_)) return right_aligned(integer(element), left_);
  return number(element) != 0 ? " True" : "False";
}

std::string ElementFormat::padded_float(double value) const {
  const std::size_t width = left_ + 1 + right_;
  if (!std::isfinite(value)) return right_aligned(scalar_text(value, dtype_), width);
  if (exponents_) {
    auto [significand, exponent] = scientific(value, dtype_, precision_, precision_);
    exponent.insert(1, std::string(exponent_size_ - (exponent.size() - 1), '0'));
    return right_aligned(significand + 'e' + exponent, width);
  }
  std::string text = positional(value, dtype_, precision_, WholePart::exact);
  const auto [before, behind] = sides(text);
  text.append(right_ - behind, ' ');
  return right_aligned(text, width);
}

/// The element as double; exact for all types but 64-bit integers.
double ElementFormat::number(const std::byte* element) const {
  Array one;
  one.dtype = dtype_;
  one.swapped = swapped_;
  one.data = element;
  double value = 0;
  copy_elements(one, &value);
  return value;
}

std::string ElementFormat::integer(const std::byte* element) const {
  if (size_of(dtype_) < 8) return std::to_string(static_cast<std::int64_t>(number(element)));
  Array one;
  one.dtype = dtype_;
  one.swapped = swapped_;
  one.data = element;
  std::uint64_t bits = 0;
  copy_bytes(one, reinterpret_cast<std::byte*>(&bits));
  return dtype_ == DType::uint64 ? std::to_string(bits)
                                 : std::to_string(static_cast<std::int64_t>(bits));
}

}  // namespace qkv

// Digits: shortest decimals from the library's, or by trial for the types it does not know.
#include "report/number_digits.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>

#include "qkv/tensor/half.hpp"

namespace qkv {

namespace {

/// "d.ddde+xx" into digits and point.
Digits split(std::string text) {
  const std::size_t mark = text.find('e');
  Digits result{text.substr(0, 1), std::stoi(text.substr(mark + 1)) + 1};
  if (mark > 2) result.digits += text.substr(2, mark - 2);
  while (result.digits.size() > 1 && result.digits.back() == '0') result.digits.pop_back();
  return result;
}

template <class T>
std::string shortest_scientific(T value) {
  char text[64];
  const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::scientific);
  return {text, end.ptr};
}

/// The exact value rounded to `precision` digits after the point, half to even, as NumPy's end.
std::string rounded(double value, std::chars_format format, int precision) {
  std::string text(static_cast<std::size_t>(precision) + 400, ' ');
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value, format, precision);
  text.resize(static_cast<std::size_t>(end.ptr - text.data()));
  return text;
}

/// The first precision at which a decimal rounds back to the same half-width element: the nearest
/// or, for a power of two, whose lower neighbour is nearer than its upper one, the next above it.
std::string shortest_half(double value, std::uint16_t (*to_bits)(float)) {
  const auto means_value = [&, bits = to_bits(static_cast<float>(value))](const std::string& text) {
    float back = 0;
    std::from_chars(text.data(), text.data() + text.size(), back);
    return to_bits(back) == bits;
  };
  for (int precision = 0;; ++precision) {
    std::string text = rounded(value, std::chars_format::scientific, precision);
    if (means_value(text)) return text;
    char& last = text[text.find('e') - 1];
    if (last == '9') continue;  // above it lies a shorter decimal, tried before
    ++last;
    if (means_value(text)) return text;
  }
}

/// Trailing zeros of the fraction go, the point stays.
std::string trimmed(std::string number) {
  if (number.find('.') == std::string::npos) return number + '.';
  number.erase(number.find_last_not_of('0') + 1);
  return number;
}

std::string sign_of(double value) { return std::signbit(value) ? "-" : ""; }

}  // namespace

Digits shortest_digits(double value, DType dtype) {
  const double magnitude = std::abs(value);
  if (magnitude == 0) return {"0", 1};
  switch (dtype) {
    case DType::float16:
      return split(shortest_half(magnitude, float_to_float16));
    case DType::bfloat16:
      return split(shortest_half(magnitude, float_to_bfloat16));
    case DType::float32:
      return split(shortest_scientific(static_cast<float>(magnitude)));
    default:
      return split(shortest_scientific(magnitude));
  }
}

std::string positional(double value, DType dtype, int most, WholePart whole) {
  const auto [digits, point] = shortest_digits(value, dtype);
  const int length = static_cast<int>(digits.size());
  const bool shortened = length < point;  // such a value is a whole number
  if (length - point > most || (shortened && whole == WholePart::exact)) {
    const int places = shortened ? 0 : most;
    return sign_of(value) + trimmed(rounded(std::abs(value), std::chars_format::fixed, places));
  }
  const auto zeros = [](int count) { return std::string(static_cast<std::size_t>(count), '0'); };
  std::string number = digits;
  if (point <= 0) {
    number = "0." + zeros(-point) + digits;
  } else if (point >= length) {
    number = digits + zeros(point - length) + ".";
  } else {
    number.insert(static_cast<std::size_t>(point), 1, '.');
  }
  return sign_of(value) + trimmed(number);
}

Scientific scientific(double value, DType dtype, int most, int least) {
  const auto [digits, point] = shortest_digits(value, dtype);
  const int length = static_cast<int>(digits.size()) - 1;
  std::string number = digits.substr(0, 1) + "." + digits.substr(1);
  int exponent = point - 1;
  if (length > most || length < least) {
    const int precision = length > most ? most : least;
    const std::string text = rounded(std::abs(value), std::chars_format::scientific, precision);
    const std::size_t mark = text.find('e');
    number = text.substr(0, mark);
    if (precision == 0) number += '.';
    exponent = std::stoi(text.substr(mark + 1));
  }
  if (least == 0) number = trimmed(number);
  return {sign_of(value) + number,
          fmt::format("{}{:02}", exponent < 0 ? '-' : '+', std::abs(exponent))};
}

std::string scalar_text(double value, DType dtype) {
  if (dtype == DType::boolean) return value != 0 ? "True" : "False";
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return sign_of(value) + "inf";
  if (!is_float(dtype)) return fmt::format("{:.0f}", value);
  constexpr int all = std::numeric_limits<int>::max();
  const double magnitude = std::abs(value);
  if (magnitude == 0 || (magnitude >= 1e-4 && magnitude < 1e16)) {
    const std::string number = positional(value, dtype, all, WholePart::shortest);
    return number.back() == '.' ? number + '0' : number;
  }
  auto [significand, exponent] = scientific(value, dtype, all, 0);
  if (significand.back() == '.') significand.pop_back();
  return significand + 'e' + exponent;
}

}  // namespace qkv

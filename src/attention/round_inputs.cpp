// Inputs rounded to float16 or bfloat16.
#include "qkv/attention/round_inputs.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "qkv/attention/presets.hpp"
#include "qkv/base/text.hpp"

namespace qkv {

namespace {

constexpr std::optional<NamedArray> Inputs::*rounded_inputs[] = {
    &Inputs::x,     &Inputs::context, &Inputs::q,      &Inputs::k,      &Inputs::v,
    &Inputs::wq,    &Inputs::wk,      &Inputs::wv,     &Inputs::wo,     &Inputs::wqkv,
    &Inputs::bq,    &Inputs::bk,      &Inputs::bv,     &Inputs::bo,     &Inputs::bqkv,
    &Inputs::sinks, &Inputs::q_norm,  &Inputs::k_norm, &Inputs::past_k, &Inputs::past_v};

/// "beyond the largest float16, 65504"
std::string beyond(Arithmetic arithmetic) {
  return arithmetic == Arithmetic::float16 ? "beyond the largest float16, 65504"
                                           : "beyond the largest bfloat16, 3.39e+38";
}

void add_note(std::vector<std::string>& notes, const std::string& text) {
  if (std::ranges::find(notes, text) == notes.end()) notes.push_back(text);  // one file for three
}

/// Rounds the elements; returns how many became infinite.
template <class T>
std::size_t round_and_count(Arithmetic arithmetic, std::span<T> elements) {
  const auto infinite = [&] {
    return std::ranges::count_if(elements, [](T value) { return std::isinf(value); });
  };
  const auto before = infinite();
  round_elements(arithmetic, elements);
  return static_cast<std::size_t>(infinite() - before);
}

}  // namespace

void round_input(std::optional<NamedArray>& input, Arithmetic arithmetic,
                 std::vector<std::string>& notes) {
  if (arithmetic == Arithmetic::native || !input) return;
  Array& array = input->array;
  if (array.dtype == dtype_of(arithmetic, DType::float32)) return;
  const std::size_t count = element_count(array.shape);
  const auto memory = allocate_bytes(count * sizeof(float));
  const std::span<float> numbers(reinterpret_cast<float*>(memory.get()), count);
  std::size_t lost = 0;
  if (size_of(array.dtype) <= sizeof(float) && is_float(array.dtype)) {
    copy_elements(array, numbers.data());
    lost = round_and_count(arithmetic, numbers);
  } else {
    // Not by way of float: what is rounded twice may end on the other side.
    std::vector<double> wide(count);
    copy_elements(array, wide.data());
    lost = round_and_count(arithmetic, std::span<double>(wide));
    std::ranges::transform(wide, numbers.begin(), [](double x) { return static_cast<float>(x); });
  }
  array = row_major_array(DType::float32, array.shape, memory.get(), memory);
  if (lost > 0) {
    add_note(notes, input->where + " is infinite where it is " + beyond(arithmetic) + ": " +
                        std::to_string(lost) + " of " + std::to_string(count) + " elements");
  }
}

Inputs rounded(Inputs inputs, const Settings& settings, std::vector<std::string>& notes) {
  for (const auto input : rounded_inputs) round_input(inputs.*input, settings.arithmetic, notes);
  if (inputs.mask && mask_is_added(*inputs.mask, settings))
    round_input(inputs.mask, settings.arithmetic, notes);
  return inputs;
}

Fill rounded(const Fill& fill, Arithmetic arithmetic, std::vector<std::string>& notes) {
  if (arithmetic == Arithmetic::native || fill.kind == Fill::Kind::negative_infinity) return fill;
  if (fill.kind == Fill::Kind::lowest) return {Fill::Kind::number, -largest_finite(arithmetic)};
  const double number = rounded(arithmetic, fill.number);
  if (std::isfinite(number)) return {Fill::Kind::number, number};
  notes.push_back("the fill " + number_text(fill.number) + " is " + beyond(arithmetic) +
                  ", and becomes " + (number < 0 ? "-inf" : "inf"));
  if (number < 0) return {};
  return {Fill::Kind::number, number};
}

}  // namespace qkv

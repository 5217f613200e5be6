// Masks, key padding and lengths from the user's arrays into the rules of Visibility.
#include "qkv/attention/read_visibility.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "qkv/attention/alibi.hpp"
#include "qkv/attention/mask_shape.hpp"
#include "qkv/attention/presets.hpp"
#include "qkv/base/error.hpp"
#include "qkv/base/text.hpp"

namespace qkv {

namespace {

std::vector<double> values_of(const Array& array) {
  std::vector<double> values(element_count(array.shape));
  copy_elements(array, values.data());
  return values;
}

/// A 0/1 mask, or a complaint about the first value that is neither.
void require_zero_or_one(const NamedArray& named, const std::vector<double>& values) {
  const auto other =
      std::ranges::find_if(values, [](double value) { return !(value == 0 || value == 1); });
  if (other == values.end()) return;
  const std::set<double> seen(values.begin(), values.end());
  const bool complement =
      std::ranges::all_of(seen, [](double value) { return value == -1 || value == -2; });
  throw Error(Complaint{
      .what = "integer mask is not 0/1",
      .where = named.where,
      .expected = "0 and 1, or a bool mask, or a float mask to add",
      .got = number_text(*other) + " among its " + std::string(name(named.array.dtype)) + " values",
      .hint = complement ? "-1 and -2 are the bitwise complement (~) of a 0/1 integer mask; use 1 "
                           "- mask, or bool before ~"
                         : ""});
}

std::array<std::size_t, 4> four(const Shape& shape) {
  return {shape[0], shape[1], shape[2], shape[3]};
}

/// Columns that a short mask lacks are hidden: its last axis grows to S.
std::size_t columns_of(const Shape& shape, const Sizes& sizes) {
  return shape[3] == 1 ? 1 : sizes.S;
}

template <class T>
void read_mask(const NamedArray& mask, const Settings& settings, const Sizes& sizes,
               Visibility<T>& visibility) {
  const Shape shape = mask_shape_by_axis(mask.array.shape, settings, sizes);
  auto full = four(shape);
  full[3] = columns_of(shape, sizes);
  const std::size_t rows = full[0] * full[1] * full[2], given = shape[3];
  const bool add = mask_is_added(mask, settings);

  if (add) {
    const auto values = as_rank<T, 4>(reshaped(mask.array, shape));
    if (given == full[3]) {
      visibility.added = values;
      return;
    }
    visibility.added = Tensor<T, 4>::make(full);
    std::ranges::fill(visibility.added.elements(), -std::numeric_limits<T>::infinity());
    for (std::size_t row = 0; row < rows; ++row) {
      std::copy_n(values.data() + row * given, given, visibility.added.data() + row * full[3]);
    }
    return;
  }

  const std::vector<double> values = values_of(mask.array);
  // A float mask read as keep (keras) keeps where it is above one half.
  const bool is_floating = is_float(mask.array.dtype);
  if (!is_floating) require_zero_or_one(mask, values);
  const bool one_hides = settings.mask_true == MaskTrue::hide;
  visibility.hidden_by_mask = Tensor<std::uint8_t, 4>::make(full);
  std::ranges::fill(visibility.hidden_by_mask.elements(), std::uint8_t{1});
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t j = 0; j < given; ++j) {
      const bool one = is_floating ? values[row * given + j] > 0.5 : values[row * given + j] != 0;
      visibility.hidden_by_mask.data()[row * full[3] + j] = one == one_hides ? 1 : 0;
    }
  }
}

template <class T>
void read_padding(const NamedArray& padding, const Settings& settings, const Sizes& sizes,
                  Visibility<T>& visibility) {
  const std::vector<double> values = values_of(padding.array);
  const bool floating = is_float(padding.array.dtype);
  const bool additive = floating && std::ranges::all_of(values, [](double value) {
                          return value == 0 || value == -HUGE_VAL;
                        });
  if (!additive) {
    if (floating &&
        !std::ranges::all_of(values, [](double value) { return value == 0 || value == 1; })) {
      throw Error(Complaint{.what = "float key padding is neither 0/1 nor 0/-inf",
                            .where = padding.where,
                            .expected = "bool, 0/1, or floats of 0 and -inf",
                            .got = std::string(name(padding.array.dtype)) + " with other values",
                            .hint = "a float mask that is added to the scores goes to --mask"});
    }
    if (!floating) require_zero_or_one(padding, values);
  }
  const bool one_hides = settings.padding_true == MaskTrue::hide;
  visibility.padded = Tensor<std::uint8_t, 2>::make({sizes.B, sizes.S});
  for (std::size_t n = 0; n < values.size(); ++n) {
    const bool hides = additive ? values[n] != 0 : (values[n] != 0) == one_hides;
    visibility.padded.data()[n] = hides ? 1 : 0;
  }
}

template <class T>
void read_lengths(const NamedArray& lengths, const Sizes& sizes, Visibility<T>& visibility) {
  for (const double length : values_of(lengths.array)) {
    if (length < 0 || length > static_cast<double>(sizes.S)) {
      throw Error(Complaint{.what = "length out of range",
                            .where = lengths.where,
                            .expected = "0 to S = " + std::to_string(sizes.S),
                            .got = number_text(length)});
    }
    visibility.lengths.push_back(static_cast<std::size_t>(length));
  }
}

/// Where query 0 of each batch row stands among the keys: the cache's length (start), or so that
/// the last query stands at the last real key (end), which is negative where there are more queries
/// than keys.
template <class T>
std::vector<long long> offsets(const Settings& settings, const Sizes& sizes,
                               const Visibility<T>& visibility) {
  std::vector<long long> offset(sizes.B, static_cast<long long>(sizes.P));
  if (settings.causal_align == CausalAlign::start) return offset;
  for (std::size_t b = 0; b < sizes.B; ++b) {
    const std::size_t keys = visibility.lengths.empty() ? sizes.S : visibility.lengths[b];
    offset[b] = static_cast<long long>(keys) - static_cast<long long>(sizes.L);
  }
  return offset;
}

}  // namespace

template <class T>
Visibility<T> read_visibility(const Inputs& inputs, const Settings& settings, const Sizes& sizes) {
  Visibility<T> visibility;
  visibility.B = sizes.B;
  visibility.H = sizes.H;
  visibility.L = sizes.L;
  visibility.S = sizes.S;
  visibility.causal = settings.causal;
  visibility.window = settings.window;
  if (settings.alibi) {
    for (const double slope : alibi_slopes(sizes.H))
      visibility.slopes.push_back(static_cast<T>(slope));
  }
  visibility.fill = settings.fill;
  visibility.empty_rows = settings.empty_rows;

  Complaints complaints;
  complaints.attempt([&] {
    if (inputs.mask) read_mask(*inputs.mask, settings, sizes, visibility);
  });
  complaints.attempt([&] {
    if (inputs.key_padding) read_padding(*inputs.key_padding, settings, sizes, visibility);
  });
  complaints.attempt([&] {
    if (inputs.lengths) read_lengths(*inputs.lengths, sizes, visibility);
  });
  complaints.throw_if_any();

  visibility.offset = offsets(settings, sizes, visibility);
  visibility.slope_offset = visibility.offset;
  visibility.window_offset =
      settings.window_shifts ? visibility.offset : std::vector<long long>(sizes.B, 0);
  return visibility;
}

template Visibility<float> read_visibility(const Inputs&, const Settings&, const Sizes&);
template Visibility<double> read_visibility(const Inputs&, const Settings&, const Sizes&);

}  // namespace qkv

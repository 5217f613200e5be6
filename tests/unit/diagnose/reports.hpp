// Tiny inputs that published mistakes were cut down to, and what diagnose says of them.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "qkv/attention/pipeline.hpp"
#include "qkv/base/error.hpp"
#include "qkv/diagnose/diagnose.hpp"
#include "support/arrays.hpp"

namespace qkv::test {

using Numbers = std::vector<double>;
using Words = std::vector<std::string>;
using Got = std::map<std::string, NamedArray>;

/// L = 2, S = 3, D = 4, Dv = 2.
inline Inputs two_queries() {
  Inputs inputs;
  inputs.q = array_of({2, 4}, {1, 0, 2, 0, 0, 1, 0, -1}, DType::float64, "q.npy");
  inputs.k = array_of({3, 4}, {1, 1, 0, 0, 0, 2, 1, 0, 1, 0, 1, 1}, DType::float64, "k.npy");
  inputs.v = array_of({3, 2}, {1, 0, 0, 1, 2, 2}, DType::float64, "v.npy");
  return inputs;
}
inline const Numbers two_queries_attn = {0.186324, 0.307196, 0.50648, 0.331499, 0.546549, 0.121952};
inline const Numbers two_queries_out = {1.199285, 1.320157, 0.575402, 0.790453};

/// L = S = 3, D = 2, and V the identity, so that out is attn.
inline Inputs three_queries() {
  Inputs inputs;
  inputs.q = array_of({3, 2}, {2, 0, 0, 1, 1, 1}, DType::float64, "q.npy");
  inputs.k = array_of({3, 2}, {1, 0, 0, 2, 1, -1}, DType::float64, "k.npy");
  inputs.v = array_of({3, 3}, {1, 0, 0, 0, 1, 0, 0, 0, 1}, DType::float64, "v.npy");
  return inputs;
}
inline const Numbers three_queries_attn = {0.445808, 0.108383, 0.445808, 0.17837, 0.733681,
                                           0.087949, 0.283995, 0.575975, 0.140029};

inline NamedArray identity(std::size_t n, const std::string& where) {
  Numbers numbers(n * n, 0);
  for (std::size_t i = 0; i < n; ++i) numbers[i * n + i] = 1;
  return array_of({n, n}, numbers, DType::float64, where);
}

/// L = S = 3, E = 4, and projections that change nothing: two heads of D = Dv = 2.
inline Inputs two_heads() {
  Inputs inputs;
  inputs.x = array_of({3, 4}, {1, 0, 0, 2, 0, 1, 1, 0, 2, 1, 0, 0}, DType::float64, "x.npy");
  inputs.wq = identity(4, "wq.npy");
  inputs.wk = identity(4, "wk.npy");
  inputs.wv = identity(4, "wv.npy");
  return inputs;
}
inline const Settings heads_2{.heads = 2, .weight_order = WeightOrder::in_out};

inline NamedArray keep(const Shape& shape, const Numbers& numbers) {
  return array_of(shape, numbers, DType::boolean, "mask.npy");
}

/// Six printed decimals of weights down to 0.01 are within 2e-4 of each.
constexpr double six_decimals = 2e-4;

inline Diagnosis diagnosis(const Inputs& inputs, const Settings& settings, const Got& got,
                           double eps = six_decimals) {
  Case the_case = make_case(inputs, settings, got);
  the_case.eps = std::max(the_case.eps, eps);
  return diagnose(the_case);
}

inline Diagnosis diagnosis(const Inputs& inputs, const Settings& settings, const std::string& stage,
                           const NamedArray& got, double eps = six_decimals) {
  return diagnosis(inputs, settings, {{stage, got}}, eps);
}

/// The faults that were found, in order; for a failing test's message.
inline Words found(const Diagnosis& diagnosis) {
  Words ids;
  for (const FoundFault& fault : diagnosis.faults) ids.push_back(fault.id);
  return ids;
}

inline std::string first(const Diagnosis& diagnosis) {
  return diagnosis.faults.empty() ? "" : diagnosis.faults.front().id;
}

/// Named first, or in the first one's list of ties.
inline bool names(const Diagnosis& diagnosis, const std::string& id) {
  if (diagnosis.faults.empty()) return false;
  const FoundFault& fault = diagnosis.faults.front();
  return fault.id == id || std::ranges::find(fault.ties, id) != fault.ties.end();
}

/// Message and fix of the first fault.
inline std::string said(const Diagnosis& diagnosis) {
  return diagnosis.faults.empty()
             ? ""
             : diagnosis.faults.front().message + "; " + diagnosis.faults.front().fix;
}

inline bool says(const Diagnosis& diagnosis, const std::string& words) {
  return said(diagnosis).find(words) != std::string::npos;
}

/// Whether the property is among those that hide the fault.
inline bool blind(const Diagnosis& diagnosis, const std::string& property, const std::string& id) {
  return std::ranges::any_of(diagnosis.blind, [&](const Blind& one) {
    return one.property == property && std::ranges::find(one.hides, id) != one.hides.end();
  });
}

/// A stage of the right computation, row-major.
inline Numbers computed(const Inputs& inputs, const Settings& settings, const std::string& stage) {
  Numbers numbers;
  attend<double>(make_problem<double>(inputs, settings),
                 [&](std::string_view id, Tensor<double, 4>& value) {
                   if (id == stage) numbers.assign(value.data(), value.data() + value.size());
                 });
  return numbers;
}

/// Six printed decimals; a NaN is near a NaN.
inline bool near(const Numbers& got, const Numbers& want, double by = 1e-5) {
  return std::ranges::equal(got, want, [by](double a, double b) {
    return std::abs(a - b) <= by || a == b || (std::isnan(a) && std::isnan(b));
  });
}

/// All lines of the refusal, "" where the inputs are accepted.
inline std::string refusal(const Inputs& inputs, const Settings& settings) {
  try {
    make_problem<double>(inputs, settings);
  } catch (const Error& error) {
    std::string lines;
    for (const Complaint& complaint : error.complaints())
      lines += text(complaint) + "\nhint: " + complaint.hint + "\n";
    return lines;
  }
  return "";
}

}  // namespace qkv::test

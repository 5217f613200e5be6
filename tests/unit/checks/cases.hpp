// Cases: evidence for the checks, right as NumPy computed it, for tests to spoil.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "data/rich_inputs.hpp"
#include "data/rich_scores.hpp"
#include "data/rich_weights.hpp"
#include "data/small.hpp"
#include "qkv/checks/check.hpp"

namespace qkv::test {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

template <class T, std::size_t Rank>
Tensor<T, Rank> tensor(const std::array<std::size_t, Rank>& sizes,
                       const std::vector<double>& values) {
  auto made = Tensor<T, Rank>::make(sizes);
  for (std::size_t n = 0; n < values.size(); ++n) made.data()[n] = static_cast<T>(values[n]);
  return made;
}

/// An array of float64, as if it had been read from a file.
inline Array array(const Shape& shape, const std::vector<double>& values) {
  auto memory = allocate_bytes(values.size() * sizeof(double));
  auto* elements = reinterpret_cast<double*>(memory.get());
  for (std::size_t n = 0; n < values.size(); ++n) elements[n] = values[n];
  return row_major_array(DType::float64, shape, memory.get(), memory);
}

/// The same for another element type: integers, bool.
template <class Element>
Array array_of(DType dtype, const Shape& shape, const std::vector<Element>& values) {
  auto memory = allocate_bytes(values.size() * sizeof(Element));
  auto* elements = reinterpret_cast<Element*>(memory.get());
  for (std::size_t n = 0; n < values.size(); ++n) elements[n] = values[n];
  return row_major_array(dtype, shape, memory.get(), memory);
}

/// Evidence with the visibility and inputs that it points to.
template <class T>
struct Case {
  Evidence<T> evidence = {};
  Visibility<T> visibility = {};
  Inputs inputs = {};

  CheckResult run(std::string_view id) {
    evidence.visibility = &visibility;
    evidence.inputs = &inputs;
    return run_alone(id);
  }
  /// Without visibility and inputs: tensors from elsewhere, about which nothing is known.
  CheckResult run_alone(std::string_view id) const {
    for (const Check& check : check_list()) {
      if (check.id == id) return run_check(check, evidence);
    }
    return {};
  }
  void size(std::size_t B, std::size_t H, std::size_t G, std::size_t L, std::size_t S,
            std::size_t D, std::size_t Dv) {
    Sizes& sizes = evidence.sizes;
    sizes.B = B, sizes.H = H, sizes.G = G, sizes.L = L, sizes.S = S, sizes.D = D, sizes.Dv = Dv;
    sizes.has_batch = B > 1;
    sizes.has_heads = H > 1;
    visibility.B = B, visibility.H = H, visibility.L = L, visibility.S = S;
    visibility.offset.assign(B, 0);
    visibility.window_offset.assign(B, 0);
  }
};

/// One head, L = 2, S = 3, D = 4, Dv = 2, nothing hidden; tensors of rank 2.
template <class T>
Case<T> small_case() {
  Case<T> made;
  made.size(1, 1, 1, 2, 3, 4, 2);
  Evidence<T>& evidence = made.evidence;
  evidence.q = tensor<T, 4>({1, 1, 2, 4}, data::small_q);
  evidence.k = tensor<T, 4>({1, 1, 3, 4}, data::small_k);
  evidence.v = tensor<T, 4>({1, 1, 3, 2}, data::small_v);
  evidence.scores = tensor<T, 4>({1, 1, 2, 3}, data::small_scores);
  evidence.scaled = tensor<T, 4>({1, 1, 2, 3}, data::small_scaled);
  evidence.attn = tensor<T, 4>({1, 1, 2, 3}, data::small_attn);
  evidence.heads = tensor<T, 4>({1, 1, 2, 2}, data::small_heads);
  return made;
}

/// B = 2, H = 4, G = 2, L = 5, S = 7, D = 3, Dv = 6; causal, aligned at the end, and key 6 of batch
/// row 1 is padding.
template <class T>
Case<T> rich_case() {
  Case<T> made;
  made.size(2, 4, 2, 5, 7, 3, 6);
  Evidence<T>& evidence = made.evidence;
  evidence.q = tensor<T, 4>({2, 4, 5, 3}, data::rich_q);
  evidence.k = tensor<T, 4>({2, 2, 7, 3}, data::rich_k);
  evidence.v = tensor<T, 4>({2, 2, 7, 6}, data::rich_v);
  evidence.scores = tensor<T, 4>({2, 4, 5, 7}, data::rich_scores);
  evidence.scaled = tensor<T, 4>({2, 4, 5, 7}, data::rich_scaled);
  evidence.masked = tensor<T, 4>({2, 4, 5, 7}, data::rich_masked);
  evidence.attn = tensor<T, 4>({2, 4, 5, 7}, data::rich_attn);
  evidence.heads = tensor<T, 4>({2, 4, 5, 6}, data::rich_heads);
  evidence.settings.causal = true;
  evidence.settings.causal_align = CausalAlign::end;
  made.visibility.causal = true;
  made.visibility.offset = {2, 2};
  made.visibility.lengths = {7, 6};
  return made;
}

/// Weights only, (1,1,L,S), given row by row; nothing hidden.
template <class T>
Case<T> weights_case(std::size_t L, std::size_t S, const std::vector<double>& attn) {
  Case<T> made;
  made.size(1, 1, 1, L, S, 0, 0);
  made.evidence.attn = tensor<T, 4>({1, 1, L, S}, attn);
  return made;
}

using Index = std::vector<std::size_t>;

inline bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace qkv::test

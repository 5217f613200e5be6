// Non-finite values in stages: the first of them, and what is known about where it came from.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "qkv/checks/check.hpp"

namespace qkv::checks {

/// What is not finite in one stage, but should be.
struct NonFinite {
  std::size_t nan = 0, pos_inf = 0, neg_inf = 0;
  std::size_t meant = 0;  ///< NaN in rows that see no key, where such rows are meant to be NaN
  std::size_t b = 0, h = 0, i = 0, j = 0;  ///< the first one
  std::size_t count() const { return nan + pos_inf + neg_inf; }
};

/// Counts NaN and Inf in a stage; -Inf in `masked` and NaN in empty rows that are meant to be NaN
/// are as they should be.
template <class T>
NonFinite non_finite_in(const Evidence<T>& evidence, std::string_view stage,
                        const Tensor<T, 4>& tensor);

/// Why, as far as it can be told when every stage before this one is finite: one clause each.
struct Explanation {
  std::string why = {};
  std::string hint = {};
};
template <class T>
Explanation explain(const Evidence<T>& evidence, std::string_view stage, const Tensor<T, 4>& tensor,
                    const NonFinite& found);

}  // namespace qkv::checks

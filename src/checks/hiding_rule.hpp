// Which rule hides a key from a query, in words.
#pragma once

#include <cstddef>
#include <string>

#include "qkv/checks/check.hpp"

namespace qkv::checks {

/// "the causal rule hides", "the padding and the mask hide": every rule that hides key j from query
/// i, with the verb.
template <class T>
std::string hiding_rule(const Visibility<T>& visibility, std::size_t b, std::size_t h,
                        std::size_t i, std::size_t j);

}  // namespace qkv::checks

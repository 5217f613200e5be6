// padding_by_sum(): padding that was found by the sum of a token's channels.
#pragma once

#include <optional>

#include "qkv/checks/check.hpp"

namespace qkv::checks {

/// A warning where every token of x that is padding sums to 0, some of them without being 0, and no
/// other token does: the padding was derived from x, and a real token fell victim to it.
template <class T>
std::optional<CheckResult> padding_by_sum(const Evidence<T>& evidence);

}  // namespace qkv::checks

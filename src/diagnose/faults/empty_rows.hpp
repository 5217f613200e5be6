// Empty rows: what code gives to a query that sees no key, asked for or by mistake.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "qkv/diagnose/fault.hpp"

namespace qkv::faults {

/// 0, NaN and 1/S as Settings::empty_rows has them; unmasked: the softmax of the scores, which a
/// finite number added to all of them does not change.
enum class EmptyWeights { zero, nan, uniform, unmasked };

/// Queries that see no key get these weights.
void set_empty_rows(Alteration& alteration, EmptyWeights weights);

/// Adds a mistake in what is hidden to the variants. Where it leaves queries without a key, once
/// for each way to go on with them that the user's tensors allow.
void add_rule_mistake(const Case& the_case, std::function<void(Visibility<double>&)> change,
                      const std::string& message, const std::string& fix,
                      std::vector<Variant>& variants);

/// True where some stage from attn on holds a NaN.
bool shows_nan(const Case& the_case);

}  // namespace qkv::faults

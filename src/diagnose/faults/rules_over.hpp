// Rules of visibility for a computation whose queries and keys are other axes of the same tensors.
#pragma once

#include <cstddef>

#include "qkv/attention/visibility.hpp"

namespace qkv {

/// The rules that go by index alone, causal and window, over B x L x S of other axes; `realign`
/// is what S-L has become less what it was, where the rules are aligned to the end. Masks and
/// padding are kept as they are: they must fit.
Visibility<double> rules_over(const Visibility<double>& rules, std::size_t B, std::size_t H,
                              std::size_t L, std::size_t S, long long realign = 0);

/// Whether there is a rule that has the shape of the problem: a mask, padding or lengths.
bool has_shaped_rules(const Visibility<double>& rules);

}  // namespace qkv

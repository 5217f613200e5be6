// The checks of a block, one claim each; block_check_list.cpp gives them their ids and order.
#pragma once

#include "qkv/checks/block_check.hpp"

namespace qkv::checks {

template <class T>
CheckResult block_finite(const BlockEvidence<T>& evidence);
template <class T>
CheckResult block_norm(const BlockEvidence<T>& evidence);
template <class T>
CheckResult block_residual(const BlockEvidence<T>& evidence);

/// Element [b,i,e] of a stage without heads, in the axes that the user's tensor has; without `e`
/// where it is left out.
template <class T>
std::vector<std::size_t> block_index(const BlockEvidence<T>& evidence, std::size_t b, std::size_t i,
                                     std::optional<std::size_t> e = {}) {
  std::vector<std::size_t> index;
  if (evidence.has_batch) index.push_back(b);
  index.push_back(i);
  if (e) index.push_back(*e);
  return index;
}

}  // namespace qkv::checks

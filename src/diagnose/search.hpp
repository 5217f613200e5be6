// Search: mistakes tried out on every stage that departs, alone and in pairs.
#pragma once

#include <vector>

#include "qkv/base/parallel.hpp"
#include "qkv/diagnose/case.hpp"
#include "qkv/diagnose/diagnose.hpp"

namespace qkv {

/// The mistakes that turn stages which differ into stages that match and break none that matched,
/// by stage.
///
/// in   reference  how the user's stages stand to those of the problem as it is
std::vector<FoundFault> search_faults(const Case& the_case,
                                      const std::vector<StageFinding>& reference,
                                      const OnProgress& on_progress, std::size_t threads);

}  // namespace qkv

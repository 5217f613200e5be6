// follow(): every stage as the step before it makes it from the user's own stages.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "qkv/diagnose/alteration.hpp"
#include "qkv/diagnose/case.hpp"

namespace qkv::faults {

struct Followed {
  /// What each step made of the stages held, before the user's own took its place.
  std::map<std::string, Tensor<double, 4>> made = {};
  /// The user's own stages where they were given and fit, else those made.
  Held held;
};

/// One run of the altered computation, up to the stage `last` ("": all). For faults whose numbers
/// have to be fitted. The result refers to the alteration's problem.
Followed follow(const Case& the_case, const Alteration& alteration, std::string_view last = {});

/// The same for the right computation.
Followed follow(const Case& the_case, std::string_view last = {});

/// The user's stage, or none where it was not given or has other axes than the stage should.
const Tensor<double, 4>* given(const Case& the_case, const std::string& id);

}  // namespace qkv::faults

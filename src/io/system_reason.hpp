// Why the system refused, in words.
#pragma once

#include <string>

namespace qkv {

/// "no space left on the device", "not permitted", ... for an errno value; lower case.
std::string system_reason(int error_number);

}  // namespace qkv

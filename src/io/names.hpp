// The names of the tensors in a file, in errors.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace qkv {

/// throws  Error "no such tensor (FILE:NAME)" with up to ten names, the likeliest first
[[noreturn]] void no_such_tensor(std::string_view name, const std::vector<std::string>& names,
                                 const std::string& where);

/// The only name there is.
/// throws  Error listing the names where there are several, or none
const std::string& only_tensor(const std::vector<std::string>& names, const std::string& where);

}  // namespace qkv

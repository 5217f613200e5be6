// Page assets: the style sheet and the script that every page carries.
#pragma once

#include <string_view>

namespace qkv {

extern const std::string_view page_style;
extern const std::string_view page_script;

}  // namespace qkv

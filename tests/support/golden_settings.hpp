// Settings of golden cases, by the words of their .json.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "qkv/attention/settings.hpp"

namespace qkv::test {

/// Throws std::out_of_range for a setting or a word that there is not.
void set_by_name(Settings& s, const std::string& name, const nlohmann::json& value);

}  // namespace qkv::test

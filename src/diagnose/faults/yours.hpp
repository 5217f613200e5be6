// yours(): the beginning of a message, in terms of a tensor that the user gave.
#pragma once

#include <string>

#include "qkv/diagnose/case.hpp"

namespace qkv::faults {

/// "your attn is" where the user gave that stage, else "your out comes from", of the first stage
/// after it that was given.
std::string yours(const Case& the_case, const std::string& stage);

/// True where the user gave one of the stages after this one.
bool gave_later(const Case& the_case, const std::string& stage);

/// The first stage after this one that the user gave, "" for none.
std::string first_after(const Case& the_case, const std::string& stage);

}  // namespace qkv::faults

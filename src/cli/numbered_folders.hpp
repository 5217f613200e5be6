// Numbered folders: layers/0 ... N-1 and heads/0 ... H-1 of a bundle.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

namespace qkv::cli {

bool is_number(const std::string& name);

/// How many there are. Numbers must run from 0 without a gap: one left out would change the result
/// unseen.
///
/// what    "layers", for the complaint
/// form    "folders": what is expected to be called 0 to N-1
/// throws  Error where a number is missing
std::size_t count_numbered(const std::set<std::string>& names, const std::string& what,
                           const std::string& where, const std::string& form);

/// The folders FOLDER/0 ... N-1 in their order; what is called otherwise is left alone.
///
/// content  what each is expected to hold, for the complaint: "the weights of a block each"
/// throws   Error where there is none, or a number is missing
std::vector<std::string> numbered_folders(const std::string& folder, const std::string& what,
                                          const std::string& content);

}  // namespace qkv::cli

// The options that a bundle's config.json may hold too.
#pragma once

#include <span>
#include <string_view>

namespace qkv::cli {

enum class OptionKind { text, flag, tensor, path };

struct OptionRow {
  std::string_view name;   ///< "heads", or "w,weights" with a short form
  std::string_view value;  ///< what it takes, for the help; "" for a flag
  std::string_view help;
  OptionKind kind;
  std::string_view group;
  std::string_view key() const;  ///< the long name
};

std::span<const OptionRow> option_list();

}  // namespace qkv::cli

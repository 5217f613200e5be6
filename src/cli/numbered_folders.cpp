// Numbered folders: layers/0 ... N-1 and heads/0 ... H-1 of a bundle.
#include "cli/numbered_folders.hpp"

#include <filesystem>

#include "qkv/base/error.hpp"
#include "qkv/base/text.hpp"

namespace qkv::cli {

namespace fs = std::filesystem;

bool is_number(const std::string& name) {
  return !name.empty() && name.find_first_not_of("0123456789") == std::string::npos;
}

std::size_t count_numbered(const std::set<std::string>& names, const std::string& what,
                           const std::string& where, const std::string& form) {
  for (std::size_t n = 0; n < names.size(); ++n) {
    if (names.contains(std::to_string(n))) continue;
    throw Error(Complaint{.what = what + " are not numbered through",
                          .where = where,
                          .expected = form + " 0 to " + std::to_string(names.size() - 1),
                          .got = listed({names.begin(), names.end()})});
  }
  return names.size();
}

std::vector<std::string> numbered_folders(const std::string& folder, const std::string& what,
                                          const std::string& content) {
  std::set<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (entry.is_directory() && is_number(name)) names.insert(name);
  }
  if (names.empty()) {
    throw Error(Complaint{.what = "no " + what,
                          .where = escaped(folder),
                          .expected = "folders 0, 1 ... with " + content,
                          .got = "none"});
  }
  const std::size_t count = count_numbered(names, what, escaped(folder), "folders");
  std::vector<std::string> folders;
  for (std::size_t n = 0; n < count; ++n)
    folders.push_back((fs::path(folder) / std::to_string(n)).string());
  return folders;
}

}  // namespace qkv::cli

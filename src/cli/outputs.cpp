// Outputs: checks before writing.
#include "cli/outputs.hpp"

#include <filesystem>
#include <system_error>

#include "qkv/base/error.hpp"
#include "qkv/base/text.hpp"

namespace qkv::cli {

namespace fs = std::filesystem;

void make_folder(const std::string& folder, const std::string& flag) {
  std::error_code failure;
  fs::create_directories(folder, failure);
  if (fs::is_directory(folder)) return;
  const bool file = fs::exists(folder);
  throw Error(Complaint{.what = "cannot make the folder",
                        .where = flag + " " + escaped(folder),
                        .expected = "a folder, or a name that is free",
                        .got = file ? "a file" : failure.message()});
}

void require_no_input(const std::string& output, const std::vector<std::string>& inputs,
                      const std::string& flag) {
  for (const std::string& input : inputs) {
    std::error_code failure;
    if (input == "-" || !fs::equivalent(input, output, failure)) continue;
    throw Error(Complaint{.what = "an input would be overwritten",
                          .where = escaped(output),
                          .expected = flag + " to name another place",
                          .got = "the file that " + escaped(input) + " was read from"});
  }
}

}  // namespace qkv::cli

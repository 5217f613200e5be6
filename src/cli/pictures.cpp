// Pictures: checked before they are made, written when all are.
#include "cli/pictures.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "cli/outputs.hpp"
#include "qkv/base/error.hpp"
#include "qkv/base/text.hpp"
#include "qkv/io/write.hpp"
#include "qkv/tensor/part.hpp"

namespace qkv::cli {

namespace {

std::vector<std::pair<std::string, std::string>> flags_and_files(const PictureFiles& files) {
  std::vector<std::pair<std::string, std::string>> named;
  for (const auto& [flag, file] : {std::pair("--svg", files.svg), std::pair("--png", files.png),
                                   std::pair("--html", files.html)}) {
    if (!file.empty()) named.emplace_back(flag, file);
  }
  return named;
}

/// The files that an argument such as FILE.npz:MEMBER[0] may name.
std::vector<std::string> files_of(const std::string& argument) {
  const std::string name = split_part(argument).first;
  std::vector<std::string> files{argument, name};
  for (std::size_t colon = name.find(':'); colon != std::string::npos;
       colon = name.find(':', colon + 1))
    files.push_back(name.substr(0, colon));
  return files;
}

}  // namespace

std::vector<std::string> PictureFiles::names() const {
  std::vector<std::string> names;
  for (const auto& [flag, file] : flags_and_files(*this)) names.push_back(file);
  return names;
}

void require_separate(const PictureFiles& files, bool json,
                      const std::vector<std::string>& inputs) {
  const auto named = flags_and_files(files);
  std::vector<std::string> on_stdout;
  if (json) on_stdout.emplace_back("--json");
  for (const auto& [flag, file] : named) {
    if (file == "-") on_stdout.push_back(flag);
    for (const std::string& input : inputs) require_no_input(file, files_of(input), flag);
    for (const auto& [other, same] : named) {
      if (flag == other) break;
      if (file == same && file != "-") {
        throw Error(Complaint{.what = "two outputs to one file",
                              .where = flag,
                              .expected = "another file than " + other,
                              .got = escaped(file, 4096)});
      }
    }
  }
  if (on_stdout.size() > 1) {
    throw Error(Complaint{.what = "several results to standard output",
                          .where = listed(on_stdout),
                          .expected = "one",
                          .got = std::to_string(on_stdout.size())});
  }
}

void write_pictures(const std::vector<Picture>& pictures) {
  std::vector<std::unique_ptr<OutputFile>> files;
  for (const Picture& picture : pictures) {
    files.push_back(std::make_unique<OutputFile>(picture.file));
    files.back()->write(picture.bytes);
  }
  for (const auto& file : files) file->commit();
}

}  // namespace qkv::cli

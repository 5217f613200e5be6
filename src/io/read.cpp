// Reading a tensor argument: which file, which tensor in it, which part of that.
#include "qkv/io/read.hpp"

#include <sys/stat.h>

#include <algorithm>

#include "io/file_kind.hpp"
#include "qkv/base/error.hpp"
#include "qkv/base/text.hpp"
#include "qkv/tensor/part.hpp"

namespace qkv {

namespace {

struct Argument {
  std::string file = {};
  std::string member = {};
  std::string part = {};
};

bool is_there(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && !S_ISDIR(status.st_mode);
}

bool has_members(const std::string& path) {
  return path.ends_with(".npz") || path.ends_with(".safetensors");
}

/// FILE, FILE:MEMBER, each with [part]. Names may hold ':' and '[' themselves, so what exists
/// decides.
Argument split_argument(const std::string& argument) {
  if (is_there(argument)) return {.file = argument};
  const auto [name, part] = split_part(argument);
  if (is_there(name)) return {.file = name, .part = part};
  for (std::size_t colon = name.rfind(':'); colon != std::string::npos && colon > 0;
       colon = name.rfind(':', colon - 1)) {
    const std::string file = name.substr(0, colon);
    if (is_there(file)) return {.file = file, .member = name.substr(colon + 1), .part = part};
  }
  if (const std::size_t colon = name.rfind(':');
      colon != std::string::npos && has_members(name.substr(0, colon))) {
    return {.file = name.substr(0, colon), .member = name.substr(colon + 1), .part = part};
  }
  if (const std::size_t bracket = name.find('[');
      bracket != std::string::npos && is_there(name.substr(0, bracket))) {
    throw Error(Complaint{.what = "not an index",
                          .where = escaped(argument),
                          .expected = "one pair of brackets at the end, such as [0,3,:8]"});
  }
  return {.file = name, .part = part};
}

/// By the first bytes; where they tell nothing, by the suffix, so that its reader says what is
/// wrong.
const Format& format_of(const Bytes& bytes, const std::string& path) {
  for (const Format& format : format_list()) {
    if (format.sniff(bytes)) return format;
  }
  std::vector<std::string> suffixes;
  for (const Format& format : format_list()) {
    if (path.ends_with(format.suffix)) return format;
    suffixes.emplace_back(format.suffix);
  }
  const FileKind kind = file_kind(bytes.data, bytes.size);
  throw Error(Complaint{.what = "not a tensor file",
                        .where = escaped(path, 4096),
                        .expected = listed(suffixes, "or"),
                        .got = kind.what,
                        .hint = kind.hint});
}

}  // namespace

Array read_tensor(const std::string& argument, TensorStream& stdin_stream) {
  if (argument == "-" || argument.starts_with("-[")) {
    Array array = stdin_stream.next();
    return argument == "-" ? array : part_of(array, argument.substr(1), "-");
  }
  Argument wanted = split_argument(argument);
  const Bytes bytes = open_bytes(wanted.file);
  const Format& format = format_of(bytes, wanted.file);
  const std::string where = escaped(wanted.file, 4096);
  if (!wanted.member.empty() && !wanted.part.empty()) {
    // "layers[0]" may be a name as well as a part.
    const std::vector<std::string> names = format.members(bytes, where);
    const std::string whole = wanted.member + wanted.part;
    if (std::find(names.begin(), names.end(), whole) != names.end()) {
      wanted = {.file = wanted.file, .member = whole};
    }
  }
  Array array = format.read(bytes, wanted.member, where);
  if (wanted.part.empty()) return array;
  return part_of(array, wanted.part,
                 wanted.member.empty() ? where : where + ":" + escaped(wanted.member));
}

std::vector<std::string> tensor_names(const std::string& path) {
  const Bytes bytes = open_bytes(path);
  return format_of(bytes, path).members(bytes, escaped(path, 4096));
}

}  // namespace qkv

// Why the system refused, in words.
#include "io/system_reason.hpp"

#include <cctype>
#include <cerrno>
#include <system_error>

namespace qkv {

std::string system_reason(int error_number) {
  switch (error_number) {
    case ENOENT:
      return "no such file";
    case ENOTDIR:
      return "no such folder";
    case EACCES:
    case EPERM:
      return "not permitted";
    case EISDIR:
      return "is a directory";
    case ENOSPC:
      return "no space left on the device";
    case EDQUOT:
      return "no space left in the disk quota";
    case EFBIG:
      return "larger than a file may be here";
    case EROFS:
      return "the file system is read-only";
    default:
      break;
  }
  std::string text = std::generic_category().message(error_number);
  if (!text.empty()) {
    text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  }
  return text;
}

}  // namespace qkv

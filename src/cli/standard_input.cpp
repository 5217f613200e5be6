// Standard input where it may be a text or a tensor.
#include "cli/standard_input.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "qkv/base/error.hpp"

namespace qkv::cli {

namespace {

[[noreturn]] void refuse(const char* what) {
  throw Error(Complaint{.what = what, .where = "standard input", .got = std::strerror(errno)});
}

}  // namespace

std::string read_standard_input() {
  std::string bytes;
  std::array<char, 65536> block{};
  while (true) {
    const ssize_t count = ::read(STDIN_FILENO, block.data(), block.size());
    if (count == 0) return bytes;
    if (count > 0) {
      bytes.append(block.data(), static_cast<std::size_t>(count));
    } else if (errno != EINTR) {
      refuse("cannot read");
    }
  }
}

bool is_npy_stream(const std::string& bytes) { return bytes.starts_with("\x93NUMPY"); }

void put_back(const std::string& bytes) {
  const int file = ::memfd_create("stdin", MFD_CLOEXEC);
  if (file < 0) refuse("cannot keep what was read");
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t count = ::write(file, bytes.data() + at, bytes.size() - at);
    if (count < 0 && errno != EINTR) refuse("cannot keep what was read");
    if (count > 0) at += static_cast<std::size_t>(count);
  }
  if (::lseek(file, 0, SEEK_SET) != 0 || ::dup2(file, STDIN_FILENO) < 0)
    refuse("cannot keep what was read");
  ::close(file);
}

}  // namespace qkv::cli

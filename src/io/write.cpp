// OutputFile: a file appears under its name only when it is whole.
#include "qkv/io/write.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <filesystem>
#include <random>

#include "io/system_reason.hpp"
#include "io/temporaries.hpp"
#include "qkv/base/error.hpp"
#include "qkv/base/text.hpp"

namespace qkv {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& what, const std::string& path,
                         const std::string& hint = "") {
  throw Error(Complaint{.what = what, .where = escaped(path, 4096), .hint = hint});
}

[[noreturn]] void refuse(int failure, const std::string& path) {
  const bool full = failure == ENOSPC || failure == EDQUOT;
  refuse("cannot write: " + system_reason(failure), path,
         full ? "free some space, or name an output on another disk" : "");
}

/// Where symbolic links lead in the end; the last of them may lead to a file that is not there yet.
/// A link of the kernel's (/proc/self/fd/1, to which /dev/stdout leads) names an open file, which
/// must not be replaced by another: "" for that.
std::string follow_links(const std::string& path) {
  fs::path target(path);
  constexpr int most_links = 40;  // as Linux itself
  for (int i = 0; i < most_links; ++i) {
    std::error_code failure;
    const fs::path parent = target.has_parent_path() ? target.parent_path() : fs::path(".");
    const fs::path folder = fs::canonical(parent, failure);
    if (failure) return target.string();
    if ((folder / "").native().starts_with("/proc/")) return "";
    target = folder / target.filename();
    const fs::path link = fs::read_symlink(target, failure);
    if (failure) return target.string();
    target = folder / link;
  }
  refuse("cannot write: too many symbolic links", path);
}

/// The descriptor of a new file beside `target`, and its name. Its mode is that of any new file
/// (0666 less the umask).
int make_temporary(const std::string& path, const std::string& target, std::string& name) {
  const fs::path parent = fs::path(target).parent_path();
  const fs::path folder = parent.empty() ? fs::path(".") : parent;
  std::random_device random;
  constexpr int most_tries = 100;
  for (int i = 0; i < most_tries; ++i) {
    std::array<char, 32> letters{};
    std::snprintf(letters.data(), letters.size(), ".qkv-%08x%08x", random(), random());
    name = (folder / letters.data()).string();
    remember_temporary(name);
    const int descriptor = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0) return descriptor;
    const int failure = errno;
    forget_temporary(name);
    if (failure == EEXIST || failure == EINTR) continue;
    const std::string shown = escaped(folder.string(), 4096);
    if (failure == ENOENT || failure == ENOTDIR) {
      refuse("cannot write: no such folder", path, "make it first: mkdir -p " + shown);
    }
    if (failure == EACCES || failure == EPERM) {
      refuse("cannot write: not permitted to make a file in " + shown, path,
             "an output is written beside its place and then renamed");
    }
    refuse(failure, path);
  }
  refuse("cannot write: no free name for a temporary file", path);
}

}  // namespace

OutputFile::OutputFile(std::string path) : path_(std::move(path)) {
  if (path_ == "-") {
    descriptor_ = STDOUT_FILENO;
    return;
  }
  if (path_.empty()) refuse("cannot write: the name of the output is empty", path_);
  struct stat old {};
  const bool exists = ::stat(path_.c_str(), &old) == 0;
  if (!exists && errno != ENOENT) refuse(errno, path_);
  if ((exists && S_ISDIR(old.st_mode)) || path_.back() == '/') {
    refuse("cannot write: a directory where a file should be", path_);
  }
  target_ = exists && !S_ISREG(old.st_mode) ? "" : follow_links(path_);
  if (target_.empty()) {
    // Appending: what else goes to a shared regular file, as behind "> log", is not overwritten.
    target_ = path_;
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY);
    if (descriptor_ < 0) refuse(errno, path_);
    return;
  }
  if (exists && ::faccessat(AT_FDCWD, target_.c_str(), W_OK, AT_EACCESS) != 0) refuse(errno, path_);
  descriptor_ = make_temporary(path_, target_, temporary_);
  if (exists) {
    // Best effort: who may not give a file away keeps it, and a lost mode bit loses no data.
    [[maybe_unused]] const int owner = ::fchown(descriptor_, old.st_uid, old.st_gid);
    [[maybe_unused]] const int mode = ::fchmod(descriptor_, old.st_mode & 0777);
  }
}

OutputFile::~OutputFile() { close_and_remove(); }

void OutputFile::write(const void* bytes, std::size_t count) {
  assert(descriptor_ >= 0);
  constexpr std::size_t largest_write = std::size_t{1} << 30;  // Linux writes 2 GiB at most
  const auto* from = static_cast<const std::byte*>(bytes);
  while (count > 0) {
    const ssize_t written = ::write(descriptor_, from, std::min(count, largest_write));
    if (written >= 0) {
      from += written;
      count -= static_cast<std::size_t>(written);
    } else if (errno == EPIPE) {
      // The reader has what it wanted. That ends a program without a word, also where its parent
      // has made it ignore SIGPIPE.
      end_by_broken_pipe();
    } else if (errno == EAGAIN) {
      pollfd wait{.fd = descriptor_, .events = POLLOUT, .revents = 0};
      ::poll(&wait, 1, -1);
    } else if (errno != EINTR) {
      refuse(errno, path_ == "-" ? "standard output" : path_);
    }
  }
}

void OutputFile::commit() {
  assert(!committed_);
  if (path_ == "-") {
    committed_ = true;
    return;
  }
  const int descriptor = descriptor_;
  descriptor_ = -1;
  // Some file systems tell only here that the data found no place. After EINTR the file is closed.
  if (::close(descriptor) != 0 && errno != EINTR) refuse(errno, path_);
  if (!temporary_.empty()) {
    if (std::rename(temporary_.c_str(), target_.c_str()) != 0) refuse(errno, path_);
    forget_temporary(temporary_);
  }
  committed_ = true;
}

void OutputFile::close_and_remove() noexcept {
  if (path_ != "-" && descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
  if (committed_ || temporary_.empty()) return;
  ::unlink(temporary_.c_str());
  forget_temporary(temporary_);
}

}  // namespace qkv

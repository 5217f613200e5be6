// Opening a file: mapped where it can be, read to its end where it cannot.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <limits>

#include "io/system_reason.hpp"
#include "io/take.hpp"
#include "qkv/base/error.hpp"
#include "qkv/base/text.hpp"
#include "qkv/io/read.hpp"

namespace qkv {

namespace {

/// Closes the descriptor at the end of its scope; a mapping outlives that.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

/// The file in the same folder that was probably meant: a slip of the hand, or a lacking suffix.
std::string missing_hint(const std::string& path) {
  namespace fs = std::filesystem;
  const fs::path wanted(path);
  const fs::path folder = wanted.has_parent_path() ? wanted.parent_path() : fs::path(".");
  std::error_code failure;
  if (!fs::is_directory(folder, failure)) {
    return "there is no folder " + escaped(folder.string(), 4096);
  }
  const std::string name = wanted.filename().string();
  constexpr std::size_t most_looked_at = 10'000;
  std::vector<std::string> names;
  for (fs::directory_iterator entry(folder, failure), end;
       !failure && entry != end && names.size() < most_looked_at; entry.increment(failure)) {
    names.push_back(entry->path().filename().string());
  }
  std::string meant = nearest(name, names);
  for (const std::string& other : names) {
    if (other.starts_with(name + ".")) meant = other;
  }
  if (meant.empty() || name.empty()) return "";
  return "did you mean " + escaped((wanted.parent_path() / meant).string(), 4096) + "?";
}

}  // namespace

Bytes open_bytes(const std::string& path) {
  const std::string where = escaped(path, 4096);
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (file.number() < 0) {
    const int failure = errno;
    throw Error(
        Complaint{.what = failure == EACCES ? "not permitted to read" : system_reason(failure),
                  .where = where,
                  .hint = failure == ENOENT ? missing_hint(path) : ""});
  }
  struct stat status {};
  if (::fstat(file.number(), &status) != 0) {
    throw Error(Complaint{.what = system_reason(errno), .where = where});
  }
  if (S_ISDIR(status.st_mode)) {
    throw Error(Complaint{.what = "a directory where a file should be", .where = where});
  }
  if (S_ISREG(status.st_mode) && status.st_size > 0) {
    const auto size = static_cast<std::size_t>(status.st_size);
    void* start = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.number(), 0);
    if (start != MAP_FAILED) {
      return {.data = static_cast<const std::byte*>(start),
              .size = size,
              .owner = std::shared_ptr<const void>(start, [size](const void* mapped) {
                ::munmap(const_cast<void*>(mapped), size);
              })};
    }
  }
  // Pipes and devices; files of a kernel's file system, whose size reads as 0; and file systems
  // that cannot map.
  Taken taken =
      take_growing(take_from(file.number(), where), std::numeric_limits<std::size_t>::max());
  if (taken.size == 0) throw Error(Complaint{.what = "empty file", .where = where});
  return {.data = taken.memory.get(), .size = taken.size, .owner = taken.memory};
}

}  // namespace qkv

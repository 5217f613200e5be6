// Taking bytes one after another into memory that grows as they come.
#include "io/take.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "io/system_reason.hpp"
#include "qkv/base/error.hpp"
#include "qkv/base/text.hpp"

namespace qkv {

Take take_from(int descriptor, const std::string& where) {
  return [descriptor, where](std::byte* into, std::size_t most) {
    constexpr std::size_t largest_read = std::size_t{1} << 30;  // Linux reads 2 GiB at most
    std::size_t size = 0;
    while (size < most) {
      const ssize_t got = ::read(descriptor, into + size, std::min(most - size, largest_read));
      if (got > 0) {
        size += static_cast<std::size_t>(got);
      } else if (got == 0) {
        break;
      } else if (errno == EAGAIN) {
        // Whoever shares the descriptor made it non-blocking.
        pollfd wait{.fd = descriptor, .events = POLLIN, .revents = 0};
        ::poll(&wait, 1, -1);
      } else if (errno != EINTR) {
        throw Error(Complaint{.what = "cannot read: " + system_reason(errno), .where = where});
      }
    }
    return size;
  };
}

Taken take_growing(const Take& take, std::size_t most) {
  struct Free {
    void operator()(std::byte* block) const { std::free(block); }
  };
  std::unique_ptr<std::byte, Free> block;
  std::size_t capacity = 0;
  const auto resize = [&](std::size_t bytes) {
    // realloc moves large blocks by remapping their pages, so growing copies next to nothing.
    void* moved = std::realloc(block.get(), std::max<std::size_t>(bytes, 1));
    if (moved == nullptr) {
      throw Error(Complaint{.what = "out of memory",
                            .got = "a request for " + bytes_text(static_cast<double>(bytes))});
    }
    static_cast<void>(block.release());
    block.reset(static_cast<std::byte*>(moved));
    capacity = bytes;
  };

  constexpr std::size_t first_capacity = std::size_t{1} << 20;
  std::size_t size = 0;
  while (size < most) {
    if (size == capacity) resize(std::min(most, std::max(first_capacity, 2 * capacity)));
    const std::size_t wanted = capacity - size;
    const std::size_t got = take(block.get() + size, wanted);
    size += got;
    if (got < wanted) break;
  }
  resize(size);
  return {.memory = std::shared_ptr<std::byte>(std::move(block)), .size = size};
}

}  // namespace qkv

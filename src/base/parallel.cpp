// Items of work shared out to threads, by one atomic counter.
#include "qkv/base/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "placing.hpp"

namespace qkv {

void parallel(std::size_t threads, std::size_t items,
              const std::function<void(std::size_t, std::size_t)>& work,
              const OnProgress& on_progress) {
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::exception_ptr failure;
  const auto take_items = [&](std::size_t thread) {
    try {
      for (std::size_t item = next++; item < items; item = next++) {
        work(item, thread);
        if (thread == 0 && on_progress) {
          const std::size_t taken = std::min(next.load(), items);
          on_progress(static_cast<double>(taken) / static_cast<double>(items));
        }
      }
    } catch (...) {
      next = items;
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
    }
  };

  std::vector<std::thread> others;
  others.reserve(threads);
  try {
    for (std::size_t thread = 1; thread < std::min(threads, items); ++thread)
      others.emplace_back(take_items, thread);
  } catch (const std::system_error&) {
    // The system has no more threads to give: those that there are do the work.
  }
  place_threads(others);
  take_items(0);
  for (std::thread& other : others) other.join();
  if (failure) std::rethrow_exception(failure);
}

std::size_t worthwhile_threads(std::size_t wanted, double operations) {
  // Creating a thread takes some 30 µs, in which a core does a few million operations.
  constexpr double per_thread = 2.5e6;
  const double most = std::max(operations / per_thread, 1.0);
  return most < static_cast<double>(wanted) ? static_cast<std::size_t>(most) : wanted;
}

void parallel_blocks(std::size_t threads, std::size_t count,
                     const std::function<void(std::size_t, std::size_t)>& work) {
  // Several blocks for each thread, so that none waits long for another.
  const std::size_t blocks = threads > 1 ? std::min(count, 8 * threads) : 1;
  if (blocks < 2) return work(0, count);
  parallel(threads, blocks,
           [&](std::size_t n, std::size_t) { work(count * n / blocks, count * (n + 1) / blocks); });
}

}  // namespace qkv

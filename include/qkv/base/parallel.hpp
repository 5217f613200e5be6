// parallel(): items of work shared out to threads.
#pragma once

#include <cstddef>
#include <functional>

namespace qkv {

/// Called now and then with the share that is done, 0 to 1.
using OnProgress = std::function<void(double)>;

/// Calls work(item, thread) once for each item below `items`, thread < `threads`. The caller is
/// thread 0; the threads take items in rising order, the next free one each. Where the system
/// grants fewer threads, fewer share the work. `on_progress` is called by thread 0 only.
///
/// throws  what work() throws, the first of it, when all threads have ended
void parallel(std::size_t threads, std::size_t items,
              const std::function<void(std::size_t item, std::size_t thread)>& work,
              const OnProgress& on_progress = {});

/// Threads that a problem of so many floating-point operations keeps busy, at most `wanted`.
std::size_t worthwhile_threads(std::size_t wanted, double operations);

/// work(first, last) for blocks [first, last) of `count` items, as parallel() shares them out; all
/// in one block where there is one thread.
void parallel_blocks(std::size_t threads, std::size_t count,
                     const std::function<void(std::size_t, std::size_t)>& work);

}  // namespace qkv

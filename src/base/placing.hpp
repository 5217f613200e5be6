// place_threads(): a CPU for each of the threads that share a piece of work.
#pragma once

#include <span>
#include <thread>

namespace qkv {

/// Moves the threads to the CPUs on which the caller is not, one each, where there are exactly as
/// many; they may move on from there. Otherwise it does nothing, and neither where a system cannot.
///
/// A new thread may be put behind its creator on the same CPU, and other CPUs that sleep do not
/// find out for milliseconds: longer than all of the work may take.
void place_threads(std::span<std::thread> threads) noexcept;

}  // namespace qkv

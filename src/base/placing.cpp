// place_threads() by the affinity calls of Linux.
#include "placing.hpp"

#ifdef __linux__
#include <pthread.h>
#include <sched.h>
#endif

namespace qkv {

void place_threads(std::span<std::thread> threads) noexcept {
#ifdef __linux__
  cpu_set_t allowed;
  const int here = sched_getcpu();
  if (threads.empty() || here < 0 || sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  const auto here_too = static_cast<std::size_t>(here);
  if (static_cast<std::size_t>(CPU_COUNT(&allowed)) != threads.size() + 1) return;
  if (here_too >= CPU_SETSIZE || !CPU_ISSET(here_too, &allowed)) return;
  std::size_t cpu = 0;
  for (std::thread& thread : threads) {
    while (cpu == here_too || !CPU_ISSET(cpu, &allowed)) ++cpu;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu++, &one);
    // There, and free to leave: both from here, so that no thread is left tied to a CPU. Where it
    // has ended already, its number is 0, which stands for the caller: that too ends up free.
    pthread_setaffinity_np(thread.native_handle(), sizeof one, &one);
    pthread_setaffinity_np(thread.native_handle(), sizeof allowed, &allowed);
  }
#else
  (void)threads;
#endif
}

}  // namespace qkv

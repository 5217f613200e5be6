// place_threads(): no thread stays tied to a CPU.
#ifdef __linux__
#include "base/placing.hpp"

#include <sched.h>

#include <catch2/catch.hpp>
#include <latch>
#include <vector>

using namespace qkv;

TEST_CASE("placing: threads and their creator may still run wherever they might before") {
  cpu_set_t before;
  REQUIRE(sched_getaffinity(0, sizeof before, &before) == 0);
  const auto others = static_cast<std::size_t>(CPU_COUNT(&before)) - 1;
  std::latch placed(1);
  std::vector<cpu_set_t> masks(others);
  std::vector<std::thread> threads;
  for (cpu_set_t& mask : masks) {
    CPU_ZERO(&mask);
    threads.emplace_back([&] {
      placed.wait();
      sched_getaffinity(0, sizeof mask, &mask);
    });
  }
  place_threads(threads);
  placed.count_down();
  for (std::thread& thread : threads) thread.join();
  for (const cpu_set_t& mask : masks) CHECK(CPU_EQUAL(&mask, &before));
  cpu_set_t after;
  REQUIRE(sched_getaffinity(0, sizeof after, &after) == 0);
  CHECK(CPU_EQUAL(&after, &before));
}
#endif

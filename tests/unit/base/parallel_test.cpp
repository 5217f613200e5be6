// parallel(): every item once, and a failure reaches the caller.
#include "qkv/base/parallel.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <stdexcept>
#include <vector>

using namespace qkv;

TEST_CASE("parallel: each item is worked on once, whatever the number of threads") {
  for (const std::size_t threads : {1, 2, 5}) {
    for (const std::size_t items : {0, 1, 3, 100}) {
      std::vector<std::atomic<int>> calls(items);
      std::atomic<bool> in_range = true;
      parallel(threads, items, [&](std::size_t item, std::size_t thread) {
        ++calls[item];
        if (thread >= threads) in_range = false;
      });
      CHECK(in_range);
      for (const auto& count : calls) CHECK(count == 1);
    }
  }
}

TEST_CASE("parallel: what an item throws comes out when all threads have ended") {
  for (const std::size_t threads : {1, 3}) {
    CHECK_THROWS_AS(parallel(threads, 50,
                             [](std::size_t item, std::size_t) {
                               if (item == 20) throw std::runtime_error("item 20");
                             }),
                    std::runtime_error);
  }
}

TEST_CASE("parallel: progress ends at 1 where one thread does all") {
  double last = 0;
  parallel(
      1, 7, [](std::size_t, std::size_t) {}, [&](double share) { last = share; });
  CHECK(last == 1);
}

TEST_CASE("parallel: a problem of a few million operations gets one thread") {
  CHECK(worthwhile_threads(8, 0) == 1);
  CHECK(worthwhile_threads(8, 4e6) == 1);
  CHECK(worthwhile_threads(8, 1e9) == 8);
  CHECK(worthwhile_threads(1, 1e12) == 1);
}

// Kernels against the reference: lengths around every block size, widths, sizes of logits.
#include <catch2/catch.hpp>

#include "unit/kernels/twins.hpp"

using namespace qkv;
using namespace qkv::test;

namespace {

// Around the lanes of each instruction set (4, 8, 16), its blocks of queries (12, 24, 64) and of
// keys (64, 128), and the queries that share a pass (96, 192, 256).
constexpr std::size_t queries[] = {1,  2,  3,  4,  5,  7,  8,  9,  11, 12, 13,  15,  16,  17,
                                   23, 24, 25, 47, 49, 63, 64, 65, 95, 97, 191, 193, 255, 257};
constexpr std::size_t keys[] = {1, 2, 5, 6, 7, 31, 32, 33, 63, 64, 65, 127, 128, 129, 257};

}  // namespace

TEST_CASE("kernels: every length around a block size") {
  for (const std::size_t L : queries) {
    for (const std::size_t S : keys) {
      INFO("L " << L << ", S " << S);
      CHECK(departures(twin_case({.L = L, .S = S})) == "");
    }
  }
}

TEST_CASE("kernels: every length around a block size, causal from the end") {
  for (const std::size_t L : queries) {
    for (const std::size_t S : keys) {
      INFO("L " << L << ", S " << S);
      TwinCase twin = twin_case({.L = L, .S = S});
      twin.settings.causal = true;
      twin.settings.causal_align = CausalAlign::end;
      CHECK(departures(twin) == "");
    }
  }
}

TEST_CASE("kernels: every width of q, k and of v") {
  for (const std::size_t D : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64, 80, 130}) {
    for (const std::size_t Dv : {1, 3, 4, 5, 8, 15, 16, 17, 33, 64}) {
      INFO("D " << D << ", Dv " << Dv);
      CHECK(departures(twin_case({.L = 19, .S = 70, .D = D, .Dv = Dv})) == "");
      CHECK(departures(twin_case({.H = 3, .L = 1, .S = 70, .D = D, .Dv = Dv})) == "");
    }
  }
}

// Enough rows that the greatest error is no matter of luck: where one key has nearly all the
// weight, a logit's rounding does not show.
TEST_CASE("kernels: scores of standard deviation 1, 30 and 100") {
  for (const double sigma : {1.0, 30.0, 100.0}) {
    for (const std::size_t L : {std::size_t{1}, std::size_t{5}, std::size_t{70}}) {
      for (const bool causal : {false, true}) {
        INFO("sigma " << sigma << ", L " << L << (causal ? ", causal" : ""));
        TwinCase twin =
            twin_case({.B = 70 / L + 1, .H = 8, .L = L, .S = 300, .D = 32, .sigma = sigma});
        twin.settings.causal = causal;
        twin.settings.causal_align = CausalAlign::end;
        CHECK(departures(twin) == "");
      }
    }
  }
}

TEST_CASE("kernels: any number of threads gives the same") {
  for (const std::size_t threads : {2, 7}) {
    for (const std::size_t L : {1, 100}) {
      INFO("threads " << threads << ", L " << L);
      TwinCase twin = twin_case({.B = 3, .H = 4, .G = 2, .L = L, .S = 900, .D = 24, .Dv = 8});
      CHECK(departures(twin, threads) == "");
      twin.settings.causal = true;
      twin.settings.causal_align = CausalAlign::end;
      CHECK(departures(twin, threads) == "");
    }
  }
}

TEST_CASE("kernels: few rows of one head, a block for each thread") {
  for (const std::size_t threads : {2, 3, 7}) {
    for (const std::size_t L : {17, 33, 50, 65}) {
      INFO("threads " << threads << ", L " << L);
      TwinCase twin = twin_case({.B = 1, .H = 1, .G = 1, .L = L, .S = 3000, .D = 64, .Dv = 16});
      CHECK(departures(twin, threads) == "");
      twin.settings.causal = true;
      twin.settings.causal_align = CausalAlign::end;
      CHECK(departures(twin, threads) == "");
    }
  }
  // Heads that share k and v are one run of rows.
  CHECK(departures(twin_case({.H = 6, .G = 1, .L = 9, .S = 3000, .D = 64}), 2) == "");
}

TEST_CASE("kernels: equal weights of very many keys, which round in the same direction") {
  for (const std::size_t L : {std::size_t{1}, std::size_t{17}}) {
    INFO("L " << L);
    TwinCase twin = twin_case({.H = 1, .L = L, .S = 20000, .D = 2, .Dv = 2, .sigma = 0});
    auto v = as_rank<float, 4>(twin.inputs.v->array).clone();
    for (float& element : v.elements()) element = 1.1F + element * element;
    twin.inputs.v = named(as_array(v));
    CHECK(departures(twin) == "");
  }
}

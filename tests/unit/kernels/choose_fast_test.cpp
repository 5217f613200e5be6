// The fast kernel: what --fast takes, and where there is one.
#include <catch2/catch.hpp>

#include "kernels/matrix_unit.hpp"
#include "qkv/kernels/fast.hpp"

using namespace qkv;

TEST_CASE("fast: an unknown name, and problems that it does not support") {
  Sizes sizes;
  sizes.L = sizes.S = sizes.D = sizes.Dv = 4;
  CHECK_THROWS_WITH(choose_fast_kernel("f8", sizes, {}),
                    "unknown fast arithmetic (--fast): expected bf16, got f8");
  Settings dropping;
  dropping.dropout = 0.1;
  CHECK_THROWS_WITH(choose_fast_kernel("bf16", sizes, dropping),
                    "this problem has no fast path (--fast bf16): expected no empty axis, and no "
                    "dropout, got --dropout");
  sizes.S = 0;
  CHECK_THROWS_WITH(choose_fast_kernel("bf16", sizes, {}),
                    "this problem has no fast path (--fast bf16): expected no empty axis, and no "
                    "dropout, got an axis of length 0");
}

TEST_CASE("fast: AMX where the CPU has it, else an error that says so") {
  Sizes sizes;
  sizes.L = sizes.S = sizes.D = sizes.Dv = 4;
  if (matrix_unit().usable) {
    CHECK(choose_fast_kernel("bf16", sizes, {}).name == "fast-bf16/amx");
  } else {
    CHECK_THROWS_WITH(choose_fast_kernel("bf16", sizes, {}),
                      "no matrix units for bfloat16 (--fast bf16): expected a CPU with AMX-BF16 "
                      "that the operating system lends, got " +
                          matrix_unit().lacks);
  }
  CHECK(engine_name(emulated_fast_kernel(), Isa::baseline) == "fast-bf16/emulated");
}

// Instruction sets: what --isa takes.
#include "qkv/kernels/isa.hpp"

#include <catch2/catch.hpp>

#include "qkv/base/error.hpp"

using namespace qkv;

TEST_CASE("isa: the list ends with what every CPU has, and auto is its first") {
  const auto list = isa_list();
  REQUIRE(!list.empty());
  CHECK(list.back() == Isa::baseline);
  CHECK(choose_isa("auto") == list.front());
  for (const Isa isa : list) CHECK(choose_isa(std::string(name(isa))) == isa);
}

TEST_CASE("isa: an unknown name lists those that there are") {
  CHECK_THROWS_WITH(
      choose_isa("sse9"),
      "unknown instruction set (--isa): expected auto, avx512, avx2 or baseline, got sse9");
}

// resource.memory
#include <catch2/catch.hpp>

#include "cases.hpp"

using namespace qkv;
using namespace qkv::test;

TEST_CASE("resource.memory: says what grows as L*S, and fails above the limit") {
  Case<float> made;
  made.size(2, 8, 8, 1024, 1024, 64, 64);
  made.evidence.stage_bytes = 400.0 * 1024 * 1024;
  made.evidence.largest_stage = "scores";
  made.evidence.largest_bytes = 64.0 * 1024 * 1024;
  made.evidence.memory_limit = 1024.0 * 1024 * 1024;
  const CheckResult fits = made.run("resource.memory");
  CHECK(fits.status == Status::pass);
  CHECK(fits.step == 6);
  CHECK(*fits.value == 400.0 * 1024 * 1024);
  // 2*8*1024*1024 elements of 4 bytes
  CHECK(contains(fits.message, "scores to attn, 64.0 MiB each, grow as L*S"));
  made.evidence.memory_limit = 300.0 * 1024 * 1024;
  const CheckResult full = made.run("resource.memory");
  CHECK(full.status == Status::fail);
  CHECK(*full.limit == 300.0 * 1024 * 1024);
  made.evidence.memory_limit = 0;
  CHECK(made.run("resource.memory").status == Status::skip);
}

// Error: the line that a complaint becomes, and how complaints are gathered.
#include "qkv/base/error.hpp"

#include <catch2/catch.hpp>

using namespace qkv;

TEST_CASE("error: what, where, expected and got make one line, the hint stays apart") {
  const Complaint complaint{.what = "head width differs from q",
                            .where = "k.npy, axis 3, D",
                            .expected = "64 as in q.npy (2,8,16,64)",
                            .got = "16 in (2,8,64,16)",
                            .hint = "is it already transposed?"};
  CHECK(text(complaint) ==
        "head width differs from q (k.npy, axis 3, D): expected 64 as in q.npy (2,8,16,64), got 16 "
        "in (2,8,64,16)");
  CHECK(std::string(Error(complaint).what()) == text(complaint));
  CHECK(Error(complaint).complaints().front().hint == "is it already transposed?");
}

TEST_CASE("error: parts that were not given leave no punctuation behind") {
  CHECK(text({.what = "no such file"}) == "no such file");
  CHECK(text({.what = "no such file", .where = "q.npy"}) == "no such file (q.npy)");
  CHECK(text({.what = "empty", .expected = "a header"}) == "empty: expected a header");
  CHECK(text({.what = "not a size", .where = "--budget", .got = "12Q"}) ==
        "not a size (--budget): got 12Q");
}

TEST_CASE("complaints: every bad input is named by one error, in order") {
  Complaints complaints;
  CHECK(complaints.empty());
  CHECK_NOTHROW(complaints.throw_if_any());
  complaints.add({.what = "first"});
  complaints.attempt([] {
    throw Error({Complaint{.what = "second"}, Complaint{.what = "third"}});
  });
  complaints.attempt([] {});
  CHECK_FALSE(complaints.empty());
  try {
    complaints.throw_if_any();
    FAIL("no error");
  } catch (const Error& error) {
    REQUIRE(error.complaints().size() == 3);
    CHECK(error.complaints()[0].what == "first");
    CHECK(error.complaints()[1].what == "second");
    CHECK(error.complaints()[2].what == "third");
    CHECK(std::string(error.what()) == "first");
  }
}

TEST_CASE("complaints: other exceptions pass through") {
  Complaints complaints;
  CHECK_THROWS_AS(complaints.attempt([] { throw 7; }), int);
}

// qkv init --revealing: bundles in which nothing hides a fault.
#include <catch2/catch.hpp>

#include "support/program.hpp"

using namespace qkv::test;

TEST_CASE("init: a revealing bundle hides no fault, with a context and without") {
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{}, {"--cross", "7"}, {"--seq", "9", "--batch", "3"}}) {
    const Folder folder;
    std::vector<std::string> words = {"init", folder.path(), "--revealing"};
    words.insert(words.end(), more.begin(), more.end());
    const Ended ended = run_program(words);
    CHECK(ended.status == 0);
    CHECK(ended.err == "");
  }
}

TEST_CASE("init: sizes that hide faults in spite of --revealing are named in a note") {
  const Folder folder;
  const Ended ended = run_program({"init", folder.path(), "--revealing", "--heads", "1"});
  CHECK(ended.status == 0);
  CHECK(ended.err.find("H = 1 hides") != std::string::npos);
  CHECK(ended.err.find("two heads or more would show it") != std::string::npos);
}

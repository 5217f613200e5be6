// The bar of long computations: on a terminal after two seconds, nowhere else, and wiped.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <iostream>

#include "qkv/base/json.hpp"
#include "support/program.hpp"

using namespace qkv;
using namespace qkv::test;

namespace {

/// What a terminal got, and how many seconds after the start it got the first of it; -1: nothing.
struct Shown {
  std::string text;
  double first_after = -1;
  bool terminal = true;
};

/// Runs qkv with standard error on a new pseudo-terminal.
Shown run_on_terminal(const std::vector<std::string>& arguments) {
  Shown shown;
  const int master = ::posix_openpt(O_RDWR | O_NOCTTY);
  if (master < 0 || ::grantpt(master) != 0 || ::unlockpt(master) != 0) {
    shown.terminal = false;
    return shown;
  }
  const int slave = ::open(::ptsname(master), O_RDWR | O_NOCTTY);
  const auto start = std::chrono::steady_clock::now();
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(slave, STDERR_FILENO);
    ::dup2(::open("/dev/null", O_WRONLY), STDOUT_FILENO);
    ::setenv("TERM", "xterm", 1);
    std::vector<char*> words = {const_cast<char*>(QKV_PROGRAM)};
    for (const std::string& word : arguments) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    ::execv(QKV_PROGRAM, words.data());
    ::_exit(127);
  }
  ::close(slave);
  char buffer[4096];
  for (ssize_t count = 0; (count = ::read(master, buffer, sizeof buffer)) > 0;) {
    if (shown.text.empty()) {
      shown.first_after =
          std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }
    shown.text.append(buffer, static_cast<std::size_t>(count));
  }
  ::close(master);
  ::waitpid(child, nullptr, 0);
  return shown;
}

/// So many runs of a small problem as take `seconds` on an idle machine, more on a busy one.
std::string runs_of(double seconds, std::vector<std::string> words) {
  words.insert(words.end(), {"--time", "200", "--json"});
  const Ended timed = run_program(words);
  REQUIRE(timed.status == 0);
  const Json document = Json::parse(timed.out, "time");
  const double one = document.find("compute_s")->find("min")->number();
  return std::to_string(static_cast<long long>(seconds / std::max(one, 1e-7)) + 1);
}

}  // namespace

TEST_CASE("progress: on a terminal a bar comes after two seconds and leaves nothing behind") {
  const Folder folder;
  const std::string bundle = folder / "bundle";
  REQUIRE(run_program({"init", bundle, "--batch", "2", "--seq", "16", "--d-model", "8"}).status ==
          0);
  std::vector<std::string> words = {"run", bundle, "--threads", "1"};
  const std::string runs = runs_of(2.6, words);
  words.insert(words.end(), {"--time", runs});

  const Shown shown = run_on_terminal(words);
  if (!shown.terminal) {
    std::cout << "skipped: there is no pseudo-terminal\n";
    return;
  }
  CHECK(shown.first_after >= 2);
  CHECK(shown.text.find("\rrun  [") == 0);
  CHECK(shown.text.find(" % ") != std::string::npos);
  CHECK(shown.text.find(" GFLOP/s  0:0") != std::string::npos);
  CHECK(shown.text.find(" left\033[K") != std::string::npos);
  // One line, drawn over itself, and wiped at the end.
  CHECK(shown.text.find('\n') == std::string::npos);
  const std::string wiped = "\r\033[K";
  REQUIRE(shown.text.size() > wiped.size());
  CHECK(shown.text.substr(shown.text.size() - wiped.size()) == wiped);

  // The same words with standard error in a pipe.
  CHECK(run_program(words).err == "");
}

TEST_CASE("progress: nothing is drawn where the work is short, or --quiet asks for nothing") {
  const Folder folder;
  const std::string bundle = folder / "bundle";
  REQUIRE(run_program({"init", bundle}).status == 0);
  CHECK(run_on_terminal({"run", bundle, "-q"}).text == "");
  CHECK(run_on_terminal({"trace", bundle}).text.find('\033') == std::string::npos);
}

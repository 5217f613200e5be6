// Ctrl-C in the middle of a long computation: the end at once, and no file that is not whole.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "support/program.hpp"

using namespace qkv;
using namespace qkv::test;

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

struct Interrupted {
  int ending = 0;      ///< as waitpid() tells
  double seconds = 0;  ///< from the signal to the end
};

/// Starts qkv, sends SIGINT once `now` says so (or after ten seconds), and waits for the end.
Interrupted interrupt(std::vector<std::string> words, const std::function<bool()>& now) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGINT, SIG_DFL);  // Catch2 handles it itself
    const int nowhere = ::open("/dev/null", O_WRONLY);
    ::dup2(nowhere, STDOUT_FILENO);
    ::dup2(nowhere, STDERR_FILENO);
    std::vector<char*> pointers = {const_cast<char*>(QKV_PROGRAM)};
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    ::execv(QKV_PROGRAM, pointers.data());
    ::_exit(127);
  }
  for (int wait = 0; wait < 10000 && !now(); ++wait)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const auto sent = Clock::now();
  ::kill(child, SIGINT);
  Interrupted interrupted;
  ::waitpid(child, &interrupted.ending, 0);
  interrupted.seconds = std::chrono::duration<double>(Clock::now() - sent).count();
  return interrupted;
}

/// True `seconds` after it was made.
std::function<bool()> after(double seconds) {
  const auto start = Clock::now();
  return [=] { return std::chrono::duration<double>(Clock::now() - start).count() >= seconds; };
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  if (!fs::exists(folder)) return names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename());
  return names;
}

/// A shell calls this status 130.
bool by_interrupt(const Interrupted& end) {
  return WIFSIGNALED(end.ending) && WTERMSIG(end.ending) == SIGINT;
}

/// True where the folder holds stages that can be read from end to end, and nothing else; there is
/// no trace.json, which comes last.
bool only_whole_stages(const std::string& folder) {
  for (const std::string& name : names_in(folder)) {
    if (name.starts_with(".qkv-") || !name.ends_with(".npy")) return false;
    tensor_file(folder + "/" + name);  // throws where the file is short
  }
  return true;
}

}  // namespace

TEST_CASE("interrupt: run ends at once in the middle of computing, the old output whole") {
  const Folder folder;
  const std::string bundle = folder / "bundle", outputs = folder / "outputs";
  REQUIRE(run_program(
              {"init", bundle, "--batch", "1", "--seq", "512", "--d-model", "64", "--heads", "4"})
              .status == 0);
  fs::create_directory(outputs);
  const std::string out = outputs + "/out.npy";
  std::ofstream(out) << "old";
  for (const std::string kernel : {"tiled", "reference"}) {
    CAPTURE(kernel);
    // Hours of work, shared out to threads again and again.
    const Interrupted end =
        interrupt({"run", bundle, "--kernel", kernel, "--threads", "3", "--time", "100000000", "-o",
                   out, "--lse", outputs + "/lse.npy"},
                  after(0.5));
    CHECK(by_interrupt(end));
    CHECK(end.seconds < 2);  // a busy machine needs some time to take a process away
    CHECK(names_in(outputs) == std::vector<std::string>{"out.npy"});
    std::string text;
    std::ifstream(out) >> text;
    CHECK(text == "old");
  }
}

TEST_CASE("interrupt: trace --dump leaves whole stages or none, and nothing temporary") {
  const Folder folder;
  const std::string bundle = folder / "bundle";
  REQUIRE(run_program(
              {"init", bundle, "--batch", "1", "--seq", "640", "--d-model", "32", "--heads", "4"})
              .status == 0);
  const std::string computing = folder / "computing", writing = folder / "writing";

  const Interrupted early = interrupt({"trace", bundle, "--dump", computing}, after(0.05));
  // A fast machine may have been done by then.
  CHECK((by_interrupt(early) || WIFEXITED(early.ending)));
  if (by_interrupt(early)) CHECK(only_whole_stages(computing));

  // The first file is there: others are being written.
  const Interrupted late =
      interrupt({"trace", bundle, "--dump", writing}, [&] { return !names_in(writing).empty(); });
  CHECK((by_interrupt(late) || WIFEXITED(late.ending)));
  if (by_interrupt(late)) CHECK(only_whole_stages(writing));
}

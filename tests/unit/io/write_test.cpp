// Output files: whole or not at all, and nothing left behind however the process ends.
#include "qkv/io/write.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <iostream>

#include "files.hpp"

using namespace qkv;
using namespace qkv::io_test;
using Catch::Matchers::Equals;
using Catch::Matchers::StartsWith;

namespace {

mode_t mode_of(const std::string& path) {
  struct stat status {};
  ::stat(path.c_str(), &status);
  return status.st_mode & 07777;
}

/// Runs `step` in a child and returns how it ended, as waitpid() tells.
template <class Step>
int ended(Step&& step) {
  const pid_t child = ::fork();
  if (child == 0) {
    step();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

constexpr const char* child_path = "QKV_TEST_CHILD_PATH";
constexpr const char* child_signal = "QKV_TEST_CHILD_SIGNAL";

}  // namespace

TEST_CASE("write: without commit the old file stays as it was and nothing else is left") {
  const Folder folder;
  const std::string path = put(folder / "out.npy", "old");
  {
    OutputFile file(path);
    file.write("new");
    CHECK(folder.names().size() == 2);
    CHECK(contents(path) == "old");
  }
  CHECK(contents(path) == "old");
  CHECK(folder.names() == std::vector<std::string>{"out.npy"});
  OutputFile file(path);
  file.write("new");
  file.commit();
  CHECK(contents(path) == "new");
  CHECK(folder.names() == std::vector<std::string>{"out.npy"});
}

TEST_CASE("write: an input that is named as the output is read to its end first") {
  const Folder folder;
  const std::string path = put(folder / "x.npy", contents(data_file("fortran.npy")));
  write_npy(path, read(path));
  CHECK(values(read(path)) == counted(24));
}

TEST_CASE("write: a new file obeys the umask, a replaced one keeps its mode") {
  const Folder folder;
  const mode_t old = ::umask(027);
  write_npy(folder / "new.npy", floats({2}));
  ::umask(old);
  CHECK(mode_of(folder / "new.npy") == 0640);
  ::chmod((folder / "new.npy").c_str(), 0604);
  write_npy(folder / "new.npy", floats({3}));
  CHECK(mode_of(folder / "new.npy") == 0604);
}

TEST_CASE("write: a symbolic link stays a link and what it leads to is replaced") {
  const Folder folder;
  std::filesystem::create_directory(folder / "deep");
  put(folder / "deep/real.npy", "old");
  std::filesystem::create_symlink("deep/middle.npy", folder / "link.npy");
  std::filesystem::create_symlink("real.npy", folder / "deep/middle.npy");
  write_npy(folder / "link.npy", floats({2}));
  CHECK(std::filesystem::is_symlink(folder / "link.npy"));
  CHECK(std::filesystem::is_symlink(folder / "deep/middle.npy"));
  CHECK(values(read(folder / "deep/real.npy")) == counted(2));
  // A link whose file is not there yet makes it.
  std::filesystem::create_symlink("deep/later.npy", folder / "ahead.npy");
  write_npy(folder / "ahead.npy", floats({3}));
  CHECK(values(read(folder / "deep/later.npy")) == counted(3));
  std::filesystem::create_symlink("loop.npy", folder / "loop.npy");
  CHECK_THAT(error_of([&] { write_npy(folder / "loop.npy", floats({2})); }),
             StartsWith("cannot write: too many levels of symbolic links"));
}

TEST_CASE("write: devices and FIFOs are written directly") {
  write_npy("/dev/null", floats({2}));
  const Folder folder;
  const std::string fifo = folder / "fifo";
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  const int reader = ::open(fifo.c_str(), O_RDONLY | O_NONBLOCK);
  write_npy(fifo, floats({5}));
  TensorStream stream(reader);
  CHECK(values(stream.next()) == counted(5));
  ::close(reader);
  CHECK(folder.names() == std::vector<std::string>{"fifo"});
}

TEST_CASE("write: '-' and /dev/fd/N are the open descriptor, regular file or not") {
  if (!has_proc()) return;
  const Folder folder;
  const std::string path = folder / "shared.npy";
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  write_npy("/dev/fd/" + std::to_string(file), floats({5}));
  CHECK(values(read(path)) == counted(5));
  CHECK(folder.names() == std::vector<std::string>{"shared.npy"});
  ::close(file);

  const int status = ended([&] {
    const int out = ::open((folder / "out.npy").c_str(), O_WRONLY | O_CREAT, 0600);
    ::dup2(out, STDOUT_FILENO);
    write_npy("-", floats({5}));
    write_npy("-", floats({2}));
  });
  CHECK(status == 0);
  CHECK(contents(folder / "out.npy") == npy_header(DType::float32, {5}) +
                                            raw<float>({1, 4, 7, 10, 13}) +
                                            npy_header(DType::float32, {2}) + raw<float>({1, 4}));
}

TEST_CASE("write: outputs that cannot be made are errors that name them") {
  const Folder folder;
  const std::string in = folder.path();
  const auto error = [](const std::string& path) {
    return error_of([&] { write_npy(path, floats({2})); });
  };
  CHECK_THAT(error(in), Equals("cannot write: a directory where a file should be (" + in + ")"));
  CHECK_THAT(error(in + "/"), StartsWith("cannot write: a directory where a file should be"));
  CHECK_THAT(error(in + "/no/out.npy"), Equals("cannot write: no such folder (" + in +
                                               "/no/out.npy) | make it first: mkdir "
                                               "-p " +
                                               in + "/no"));
  put(in + "/file", "x");
  CHECK_THAT(error(in + "/file/out.npy"),
             Equals("cannot write: no such folder (" + in + "/file/out.npy)"));
  CHECK_THAT(error(""), StartsWith("cannot write: the name of the output is empty"));
}

TEST_CASE("write: folders and files without permission are errors that say so") {
  const Folder folder;
  const std::string in = folder.path();
  put(in + "/kept.npy", "kept");
  ::chmod((in + "/kept.npy").c_str(), 0444);
  ::chmod(in.c_str(), 0555);
  const bool root = ::geteuid() == 0;
  if (root) REQUIRE(::seteuid(65534) == 0);
  const std::string new_file = error_of([&] { write_npy(in + "/new.npy", floats({2})); });
  const std::string kept_file = error_of([&] { write_npy(in + "/kept.npy", floats({2})); });
  if (root) REQUIRE(::seteuid(0) == 0);
  ::chmod(in.c_str(), 0755);
  CHECK_THAT(new_file,
             Equals("cannot write: not permitted to make a file in " + in + " (" + in +
                    "/new.npy) | an output is written beside its place and then renamed"));
  CHECK_THAT(kept_file, Equals("cannot write: not permitted (" + in + "/kept.npy)"));
}

TEST_CASE("write: a full device is an error, and the old file stays") {
  CHECK_THAT(error_of([] { write_npy("/dev/full", floats({2})); }),
             Equals("cannot write: no space left on the device (/dev/full) | free some space, or "
                    "name an output on another disk"));
  const Folder folder;
  if (::mount("tmpfs", folder.path().c_str(), "tmpfs", 0, "size=64k") != 0) {
    std::cout << "skipped: a small disk cannot be mounted here\n";
    return;
  }
  const std::string path = put(folder / "out.npy", "old");
  const std::string error = error_of([&] { write_npy(path, floats({100'000})); });
  const std::string left = contents(path);
  const std::vector<std::string> names = folder.names();
  ::umount(folder.path().c_str());
  CHECK_THAT(error, StartsWith("cannot write: no space left on the device (" + path + ")"));
  CHECK(left == "old");
  CHECK(names == std::vector<std::string>{"out.npy"});
}

TEST_CASE("write: a file larger than the process may make is an error, and the old file stays") {
  const Folder folder;
  const std::string path = put(folder / "out.npy", "old");
  ::signal(SIGXFSZ, SIG_IGN);
  rlimit old{};
  ::getrlimit(RLIMIT_FSIZE, &old);
  rlimit small = old;
  small.rlim_cur = 4096;
  ::setrlimit(RLIMIT_FSIZE, &small);
  const std::string error = error_of([&] { write_npy(path, floats({100'000})); });
  ::setrlimit(RLIMIT_FSIZE, &old);
  ::signal(SIGXFSZ, SIG_DFL);
  CHECK_THAT(error, Equals("cannot write: larger than a file may be here (" + path + ")"));
  CHECK(contents(path) == "old");
  CHECK(folder.names() == std::vector<std::string>{"out.npy"});
}

// The child of the next test: this program again, so that no other test has touched its signals.
TEST_CASE("write: child that is ended by a signal in the middle of a file", "[.]") {
  const char* path = std::getenv(child_path);
  const char* number = std::getenv(child_signal);
  REQUIRE(path != nullptr);
  REQUIRE(number != nullptr);
  const int signal_number = std::atoi(number);
  ::signal(signal_number, SIG_DFL);  // Catch2 handles some itself
  OutputFile file(path);
  OutputFile other(std::string(path) + ".other");
  file.write("half of");
  ::raise(signal_number);
}

TEST_CASE("write: a signal that ends the process leaves no temporary file and the old one whole") {
  if (!has_proc()) return;
  const int signal_number = GENERATE(SIGINT, SIGTERM, SIGHUP, SIGPIPE);
  const Folder folder;
  const std::string path = put(folder / "out.npy", "old");
  const int status = ended([&] {
    ::setenv(child_path, path.c_str(), 1);
    ::setenv(child_signal, std::to_string(signal_number).c_str(), 1);
    ::execl("/proc/self/exe", "qkv_unit",
            "write: child that is ended by a signal in the middle of a file", nullptr);
  });
  CAPTURE(signal_number, status);
  REQUIRE(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == signal_number);
  CHECK(contents(path) == "old");
  CHECK(folder.names() == std::vector<std::string>{"out.npy"});
}

TEST_CASE("write: a reader that goes away ends the process by SIGPIPE, without an error") {
  const bool ignored = GENERATE(false, true);
  const int status = ended([&] {
    ::signal(SIGPIPE, ignored ? SIG_IGN : SIG_DFL);
    int ends[2];
    if (::pipe(ends) != 0) ::_exit(3);
    ::dup2(ends[1], STDOUT_FILENO);
    ::close(ends[0]);
    write_npy("-", floats({100}));
  });
  CAPTURE(ignored, status);
  REQUIRE(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGPIPE);
}

TEST_CASE("write: a signal that the parent has made us ignore stays ignored") {
  const Folder folder;
  const int status = ended([&] {
    ::signal(SIGHUP, SIG_IGN);
    OutputFile file(folder / "out");
    ::raise(SIGHUP);
    file.write("whole");
    file.commit();
  });
  CHECK(status == 0);
  CHECK(contents(folder / "out") == "whole");
}

// The program itself: starting it, waiting for it, reading what it wrote.
#include "support/program.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>

#include "qkv/io/read.hpp"

namespace qkv::test {

namespace {

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream stream;
  stream << file.rdbuf();
  return stream.str();
}

}  // namespace

Folder::Folder() {
  std::string pattern =
      (std::filesystem::temp_directory_path() / ("qkv-test-" + std::string(6, 'X'))).string();
  if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
  path_ = pattern;
}

Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

Ended run_program(const std::vector<std::string>& arguments) {
  const Folder folder;
  const std::string out = folder / "out", err = folder / "err";
  std::string program = QKV_PROGRAM;
  std::vector<std::string> words = arguments;
  std::vector<char*> pointers{program.data()};
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);

  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, out.c_str(), O_WRONLY | O_CREAT, 0600);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, err.c_str(), O_WRONLY | O_CREAT, 0600);
  pid_t child = 0;
  const int failure =
      posix_spawn(&child, program.c_str(), &files, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (failure != 0) throw std::runtime_error("cannot start " + program);

  int ending = 0;
  while (waitpid(child, &ending, 0) < 0 && errno == EINTR) {
  }
  const int status = WIFEXITED(ending) ? WEXITSTATUS(ending) : 128 + WTERMSIG(ending);
  return {.status = status, .out = contents(out), .err = contents(err)};
}

std::string command_line(const std::vector<std::string>& arguments) {
  std::string line = "qkv";
  for (const std::string& word : arguments) line += " " + word;
  return line;
}

Array tensor_file(const std::string& argument) {
  TensorStream no_stream(-1);
  return read_tensor(argument, no_stream);
}

bool has_shared_folder(const std::string& path) {
  if (std::filesystem::is_directory(path)) return true;
  std::cout << "skipped: no folder " << path << " (set QKV_SHARED_DIR)\n";
  return false;
}

}  // namespace qkv::test

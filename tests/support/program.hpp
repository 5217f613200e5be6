// The program itself, run as a user runs it, and a folder for what it writes.
#pragma once

#include <string>
#include <vector>

#include "qkv/tensor/array.hpp"

namespace qkv::test {

/// A new folder that goes when the test ends, with all that is in it.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

struct Ended {
  int status = -1;  ///< exit status; 128 + the signal that ended it
  std::string out;
  std::string err;
};

/// Runs qkv with these arguments (no shell between) and waits for its end.
Ended run_program(const std::vector<std::string>& arguments);

/// The words as a user would have typed them, for messages.
std::string command_line(const std::vector<std::string>& arguments);

/// Reads a tensor argument (FILE.npy, FILE.npy[None]) with the library's own reader.
Array tensor_file(const std::string& argument);

/// True where the folder is there. Otherwise prints the line that ctest takes for "skipped".
bool has_shared_folder(const std::string& path);

}  // namespace qkv::test

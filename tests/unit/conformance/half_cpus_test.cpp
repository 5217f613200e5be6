// float16 and bfloat16 stages are the same bytes on every CPU: BLAS kernels and the library's
// functions are forced to those of others.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "support/program.hpp"

using namespace qkv::test;

namespace {

/// A variable of the environment for as long as this lives.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Variable() { unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

/// Name and bytes of each .npy in a folder.
std::map<std::string, std::string> tensors_in(const std::string& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".npy") continue;
    std::ifstream file(entry.path(), std::ios::binary);
    std::stringstream bytes;
    bytes << file.rdbuf();
    files[entry.path().filename().string()] = bytes.str();
  }
  return files;
}

std::map<std::string, std::string> dumped(std::vector<std::string> words) {
  const Folder folder;
  words.insert(words.end(), {"-q", "--dump", folder / "dump"});
  const Ended ended = run_program(words);
  INFO(command_line(words) << "\n" << ended.err);
  REQUIRE(ended.status == 0);
  return tensors_in(folder / "dump");
}

}  // namespace

TEST_CASE("half precision: the bytes of every stage are the same on every CPU") {
  const Folder folder;
  const std::string bundle = folder / "bundle";
  REQUIRE(run_program({"init", bundle, "-q", "--batch", "2", "--seq", "37", "--d-model", "48",
                       "--d-k", "12", "--heads", "4", "--kv-heads", "2", "--bias", "--seed", "5"})
              .status == 0);
  const std::vector<std::string> cases[] = {
      {"trace", bundle, "--causal", "--rope", "10000", "--qk-norm", "rms"},
      {"trace", bundle, "--softcap", "2", "--alibi", "--dropout", "0.1", "--scale", "3"},
  };
  struct Cpu {
    const char *blas, *tunables;
  };
  // The last two: an old one without fused multiply-adds, and one whose kernels differ again.
  const Cpu cpus[] = {{"Prescott", "glibc.cpu.hwcaps=-FMA,-AVX2,-FMA4,-AVX2_Usable,-FMA_Usable"},
                      {"Haswell", ""},
                      {"SkylakeX", ""}};
  for (const char* compute : {"f16", "bf16"}) {
    for (std::vector<std::string> words : cases) {
      words.insert(words.end(), {"--compute", compute});
      const auto here = dumped(words);
      REQUIRE(here.size() >= 11);
      for (const Cpu& cpu : cpus) {
        const Variable blas("OPENBLAS_CORETYPE", cpu.blas), libm("GLIBC_TUNABLES", cpu.tunables);
        for (const char* threads : {"1", "2"}) {
          words.insert(words.end(), {"--threads", threads});
          INFO(command_line(words) << " as " << cpu.blas);
          const auto there = dumped(words);
          REQUIRE(there.size() == here.size());
          for (const auto& [name, bytes] : here) {
            INFO(name);
            CHECK(there.at(name) == bytes);
          }
          words.resize(words.size() - 2);
        }
      }
    }
  }
}

// The Attention vectors of the ONNX project through the program: files in, dumped stages out.
#include <catch2/catch.hpp>
#include <filesystem>
#include <map>
#include <sstream>

#include "support/arrays.hpp"
#include "support/onnx.hpp"
#include "support/program.hpp"

using namespace qkv;
using namespace qkv::test;

namespace {

/// The vectors' own README: |got-want| <= a + a*|want|, a = 1e-5 for float32 and 1e-3 for float16,
/// whose inputs qkv computes in float32.
void check_near(const std::string& got, const std::string& want) {
  const Array expected = tensor_file(want);
  const double a = expected.dtype == DType::float16 ? 1e-3 : 1e-5;
  INFO(got << " against " << want);
  CHECK(departure(tensor_file(got), expected, a, a) == "");
}

/// The inputs and attributes of a vector as flags.
std::vector<std::string> flags(const OnnxCase& vector) {
  std::vector<std::string> words = {"--like", "onnx"};
  const std::map<std::string, std::string> flag_of = {{"Q", "--q"},
                                                      {"K", "--k"},
                                                      {"V", "--v"},
                                                      {"attn_mask", "--mask"},
                                                      {"past_key", "--past-k"},
                                                      {"past_value", "--past-v"},
                                                      {"nonpad_kv_seqlen", "--lengths"}};
  for (const auto& [role, path] : vector.inputs)
    words.insert(words.end(), {flag_of.at(role), path});
  const std::map<std::string, std::string> flag_of_attribute = {{"q_num_heads", "--heads"},
                                                                {"kv_num_heads", "--kv-heads"},
                                                                {"scale", "--scale"},
                                                                {"softcap", "--softcap"}};
  for (const auto& [name, flag] : flag_of_attribute) {
    if (vector.attributes.count(name) == 0) continue;
    std::ostringstream number;
    number.precision(17);
    number << vector.attributes.at(name);
    words.insert(words.end(), {flag, number.str()});
  }
  if (vector.attribute("is_causal", 0) != 0) words.push_back("--causal");
  return words;
}

void require_success(const std::vector<std::string>& words) {
  const Ended ended = run_program(words);
  INFO(command_line(words) << "\n" << ended.err);
  REQUIRE(ended.status == 0);
}

/// The last of the stages that the dump has.
std::string last_dumped(const Folder& dump, const std::vector<std::string>& stages) {
  std::string last;
  for (const std::string& stage : stages) {
    if (std::filesystem::exists(dump / (stage + ".npy"))) last = dump / (stage + ".npy");
  }
  return last;
}

/// Which stage qk_matmul_output is, by mode: a stage that this configuration leaves out is the one
/// before.
std::string matmul_output(const Folder& dump, int mode) {
  const std::vector<std::vector<std::string>> stages = {
      {"scaled"}, {"scaled", "capped"}, {"scaled", "capped", "masked"}, {"attn"}};
  return last_dumped(dump, stages.at(static_cast<std::size_t>(mode)));
}

}  // namespace

TEST_CASE("onnx: trace dumps Y and every qk_matmul_output of the 38 Attention vectors") {
  if (!has_shared_folder(onnx_folder())) return;
  const auto vectors = onnx_cases("Attention");
  REQUIRE(vectors.size() == 38);
  for (const OnnxCase& vector : vectors) {
    INFO(vector.name);
    const Folder dump;
    std::vector<std::string> words = {"trace", "--dump", dump.path()};
    const auto given = flags(vector);
    words.insert(words.end(), given.begin(), given.end());
    // A vector with a query that sees no key draws a warning, none draws a failed check.
    CHECK_NOTHROW(require_success(words));
    check_near(dump / "out.npy", vector.outputs.at("Y"));
    if (vector.outputs.count("qk_matmul_output") > 0) {
      const int mode = static_cast<int>(vector.attribute("qk_matmul_output_mode", 0));
      check_near(matmul_output(dump, mode), vector.outputs.at("qk_matmul_output"));
    }
  }
}

TEST_CASE("onnx: run writes Y and the grown cache of the 38 Attention vectors") {
  if (!has_shared_folder(onnx_folder())) return;
  for (const OnnxCase& vector : onnx_cases("Attention")) {
    INFO(vector.name);
    const Folder folder;
    std::vector<std::string> words = {"run", "-o", folder / "Y.npy"};
    const bool grows = vector.outputs.count("present_key") > 0;
    if (grows)
      words.insert(words.end(), {"--present-k", folder / "k.npy", "--present-v", folder / "v.npy"});
    const auto given = flags(vector);
    words.insert(words.end(), given.begin(), given.end());
    CHECK_NOTHROW(require_success(words));
    check_near(folder / "Y.npy", vector.outputs.at("Y"));
    if (grows) {
      check_near(folder / "k.npy", vector.outputs.at("present_key"));
      check_near(folder / "v.npy", vector.outputs.at("present_value"));
    }
  }
}

// Golden cases: reading them and making their inputs.
#include "support/golden.hpp"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

#include "support/arrays.hpp"
#include "support/golden_settings.hpp"

namespace qkv::test {

namespace {

using nlohmann::json;

/// The numbers of a one-dimensional little-endian float64 .npy file, version 1.0; by hand, so that
/// the reader under test is not what the tests are read by.
std::vector<double> npy_numbers(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream stream;
  stream << file.rdbuf();
  const std::string bytes = stream.str();
  if (bytes.size() < 10 || bytes.compare(0, 8, std::string("\x93NUMPY\x01\x00", 8)) != 0 ||
      bytes.find("'descr': '<f8', 'fortran_order': False") == std::string::npos) {
    throw std::runtime_error(path + ": not the float64 .npy that make_golden.py writes");
  }
  const auto header =
      static_cast<unsigned char>(bytes[8]) + 256u * static_cast<unsigned char>(bytes[9]);
  std::vector<double> numbers((bytes.size() - 10 - header) / sizeof(double));
  std::memcpy(numbers.data(), bytes.data() + 10 + header, numbers.size() * sizeof(double));
  return numbers;
}

/// The elements of a recipe (golden/draw.py says what its members mean).
std::vector<double> made(const json& recipe, std::size_t count, bool is_float_type) {
  if (recipe.contains("data")) return recipe["data"].get<std::vector<double>>();
  const std::uint64_t tag = recipe["tag"];
  std::vector<double> values(count);
  for (std::size_t n = 0; n < count; ++n) {
    const std::uint32_t low_byte = hashed(tag, n) & 255u;
    if (!is_float_type) {
      values[n] = low_byte < recipe["keep"].get<std::uint32_t>() ? 1 : 0;
    } else if (low_byte < recipe.value("hide", 0u)) {
      values[n] = -std::numeric_limits<double>::infinity();
    } else {
      values[n] = hashed_value(tag, n) / recipe.value("divide", 1.0);
    }
  }
  return values;
}

NamedArray input_of(const json& recipe, const std::string& name) {
  const Shape shape = recipe["shape"];
  const DType dtype = dtype_named(recipe["dtype"].get<std::string>());
  NamedArray input =
      array_of(shape, made(recipe, element_count(shape), is_float(dtype)), dtype, name + ".npy");
  if (recipe.value("order", "C") == "F") input.array = in_fortran_order(input.array);
  return input;
}

std::optional<NamedArray>& slot(Inputs& inputs, const std::string& name) {
  static const std::map<std::string, std::optional<NamedArray> Inputs::*> slots = {
      {"x", &Inputs::x},
      {"context", &Inputs::context},
      {"q", &Inputs::q},
      {"k", &Inputs::k},
      {"v", &Inputs::v},
      {"wq", &Inputs::wq},
      {"wk", &Inputs::wk},
      {"wv", &Inputs::wv},
      {"wo", &Inputs::wo},
      {"wqkv", &Inputs::wqkv},
      {"bq", &Inputs::bq},
      {"bk", &Inputs::bk},
      {"bv", &Inputs::bv},
      {"bo", &Inputs::bo},
      {"bqkv", &Inputs::bqkv},
      {"mask", &Inputs::mask},
      {"key_padding", &Inputs::key_padding},
      {"lengths", &Inputs::lengths},
      {"past_k", &Inputs::past_k},
      {"past_v", &Inputs::past_v},
      {"sinks", &Inputs::sinks},
      {"q_norm", &Inputs::q_norm},
      {"k_norm", &Inputs::k_norm},
      {"position", &Inputs::position}};
  return inputs.*slots.at(name);
}

GoldenStage stage_of(const json& row, const std::vector<double>& numbers, std::size_t sampled,
                     std::uint64_t tag) {
  GoldenStage stage;
  stage.id = row[0];
  stage.shape = row[1].get<Shape>();
  stage.shown = row[2].get<Shape>();
  std::size_t next = row[3];
  for (double* number :
       {&stage.sum, &stage.size_sum, &stage.mixed_sum, &stage.worst_error, &stage.summed_error})
    *number = numbers.at(next++);
  stage.neg_inf = row[4][0];
  stage.nan = row[4][1];
  stage.fills = row[4][2];
  stage.zeros = row[4][3];
  stage.tag = tag;
  const std::size_t count = element_count(stage.shape);
  for (std::size_t n = 0; n < std::min(count, sampled); ++n) {
    stage.at.push_back(count <= sampled ? n : hashed(tag + 1, n) % count);
    stage.values.push_back(numbers.at(next++));
  }
  return stage;
}

}  // namespace

std::uint32_t hashed(std::uint64_t tag, std::uint64_t n) {
  auto bits = static_cast<std::uint32_t>(n * 2654435761u + tag * 2246822519u);
  bits = (bits ^ (bits >> 15)) * 3266489917u;
  bits = (bits ^ (bits >> 15)) * 668265263u;
  return bits ^ (bits >> 16);
}

double hashed_value(std::uint64_t tag, std::uint64_t n) {
  return (static_cast<double>(hashed(tag, n) >> 20) - 2048.0) / 1024.0;
}

GoldenCase golden_case(const json& entry) {
  GoldenCase golden;
  golden.name = entry["name"];
  for (const auto& [setting, value] : entry["settings"].items())
    set_by_name(golden.settings, setting, value);
  for (const auto& [input, recipe] : entry["inputs"].items())
    slot(golden.inputs, input) = input_of(recipe, input);
  return golden;
}

std::vector<GoldenCase> golden_cases(const std::string& name) {
  const std::string path = std::string(QKV_TEST_DATA) + "/golden/" + name;
  std::ifstream file(path + ".json");
  const json document = json::parse(file);
  const std::vector<double> numbers = npy_numbers(path + ".npy");
  std::vector<GoldenCase> cases;
  for (const json& entry : document["cases"]) {
    GoldenCase golden = golden_case(entry);
    const std::uint64_t tag = 64 * cases.size();
    for (const json& row : entry["stages"])
      golden.stages.push_back(
          stage_of(row, numbers, document["sampled"], tag + 2 * golden.stages.size()));
    for (const json& row : entry["present"])
      golden.present.push_back(
          stage_of(row, numbers, document["sampled"], tag + 32 + 2 * golden.present.size()));
    cases.push_back(std::move(golden));
  }
  return cases;
}

}  // namespace qkv::test

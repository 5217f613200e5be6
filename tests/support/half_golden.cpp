// Golden cases in half precision: reading them.
#include "support/half_golden.hpp"

#include <fstream>
#include <nlohmann/json.hpp>

#include "qkv/tensor/half.hpp"
#include "support/program.hpp"

namespace qkv::test {

std::vector<HalfCase> half_cases(Arithmetic arithmetic) {
  const std::string path = std::string(QKV_TEST_DATA) + "/golden/half";
  const auto document = nlohmann::json::parse(std::ifstream(path + ".json"));
  const auto bits = as_rank<float, 2>(tensor_file(path + ".npy"));
  const bool is_float16 = arithmetic == Arithmetic::float16;
  std::vector<HalfCase> cases;
  for (const auto& entry : document["cases"]) {
    HalfCase half{golden_case(entry), {}};
    half.golden.settings.arithmetic = arithmetic;
    for (const auto& row : entry[is_float16 ? "float16" : "bfloat16"]) {
      HalfStage stage{.id = row[0], .shape = row[1].get<Shape>()};
      const std::size_t first = row[2], count = element_count(stage.shape);
      std::size_t kind = 0;
      for (std::vector<float>* values : {&stage.nearest, &stage.least, &stage.greatest}) {
        for (std::size_t n = first; n < first + count; ++n) {
          const auto number = static_cast<std::uint16_t>(bits(kind, n));
          values->push_back(is_float16 ? float16_to_float(number) : bfloat16_to_float(number));
        }
        ++kind;
      }
      half.stages.push_back(std::move(stage));
    }
    cases.push_back(std::move(half));
  }
  return cases;
}

}  // namespace qkv::test

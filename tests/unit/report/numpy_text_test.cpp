// numpy_text(): what NumPy prints, to the last blank.
#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "qkv/report/report.hpp"
#include "support/hex_array.hpp"

using namespace qkv;
using qkv::test::byte_swapped;
using qkv::test::column_major;
using qkv::test::dtype_named;
using qkv::test::hex_array;
using qkv::test::shape_from;

namespace {

struct Case {
  Array array;
  PrintOptions options;
  std::string text;
};

std::vector<Case> golden_cases() {
  std::ifstream file(QKV_TEST_DATA "/report/numpy_text.txt");
  std::vector<Case> cases;
  std::string line;
  while (std::getline(file, line)) {
    std::istringstream fields(line);
    std::string word, dtype, shape, hex;
    std::size_t lines = 0;
    Case next;
    fields >> word >> dtype >> shape >> next.options.precision >> next.options.threshold >>
        next.options.edge_items >> next.options.line_width >> lines;
    std::getline(file, hex);
    next.array = hex_array(dtype_named(dtype), shape_from(shape), hex);
    for (std::size_t n = 0; n < lines; ++n) {
      std::getline(file, line);
      next.text += (n > 0 ? "\n" : "") + line;
    }
    cases.push_back(std::move(next));
  }
  return cases;
}

Array float32s(const std::vector<float>& values) {
  auto memory = allocate_bytes(values.size() * sizeof(float));
  std::copy(values.begin(), values.end(), reinterpret_cast<float*>(memory.get()));
  return row_major_array(DType::float32, {values.size()}, memory.get(), memory);
}

}  // namespace

TEST_CASE("numpy_text: prints every type, form and summary as NumPy does") {
  const auto cases = golden_cases();
  REQUIRE(cases.size() > 400);
  for (const Case& next : cases) CHECK(numpy_text(next.array, next.options) == next.text);
}

TEST_CASE("numpy_text: byte order and memory layout change nothing") {
  for (const Case& next : golden_cases()) {
    CHECK(numpy_text(byte_swapped(next.array), next.options) == next.text);
    CHECK(numpy_text(column_major(next.array), next.options) == next.text);
  }
}

TEST_CASE("numpy_text: float32 prints its own shortest digits, not those of the double") {
  CHECK(numpy_text(float32s({0.1f, 0.2f, 0.3f})) == "[0.1 0.2 0.3]");
}

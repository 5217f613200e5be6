// Parts: any text behind any small shape is a part that lies within the array, or an Error.
#include <numeric>

#include "qkv/tensor/part.hpp"
#include "touch.hpp"

using namespace qkv;

/// The input is the rank, a size for each axis, and the text.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t rank = data[0] % 5;
  if (size < 1 + rank) return 0;
  Shape shape;
  for (std::size_t axis = 0; axis < rank; ++axis) shape.push_back(data[1 + axis] % 6);
  const std::string text(reinterpret_cast<const char*>(data) + 1 + rank, size - 1 - rank);

  std::vector<double> elements(element_count(shape));
  std::iota(elements.begin(), elements.end(), 0.0);
  const Array array = row_major_array(DType::float64, shape,
                                      reinterpret_cast<const std::byte*>(elements.data()), nullptr);
  const auto [name, part] = split_part(text);
  fuzz::require(name + part == text);
  for (const std::string& each : {part, text}) {
    try {
      const std::vector<double> values = fuzz::touch(part_of(array, each, name));
      fuzz::require(values.size() <= elements.size());
    } catch (const Error&) {
    }
  }
  return 0;
}

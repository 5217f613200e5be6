// The Softmax and RotaryEmbedding vectors of the ONNX project through the library's functions.
#include <catch2/catch.hpp>

#include "qkv/attention/rope.hpp"
#include "qkv/attention/softmax.hpp"
#include "support/arrays.hpp"
#include "support/onnx.hpp"
#include "support/program.hpp"

using namespace qkv;
using namespace qkv::test;

namespace {

/// The vectors' README: |got-want| <= 1e-5 + 1e-5*|want| for float32.
std::string off_by_more_than_told(const Array& got, const Array& want) {
  return departure(got, want, 1e-5, 1e-5);
}

/// Axes in front until the rank is 4.
Tensor<float, 4> rank_four(const Array& array) {
  Shape shape = array.shape;
  shape.insert(shape.begin(), 4 - shape.size(), 1);
  return as_rank<float, 4>(reshaped(array, shape));
}

/// softmax() works on the last axis; another one is exchanged with it before and after.
Array softmax_over(const Array& x, std::size_t axis) {
  std::vector<std::size_t> exchanged = {0, 1, 2};
  std::swap(exchanged.at(axis), exchanged.at(2));
  const Array moved = transposed(x, exchanged);
  const Array weights = as_array(softmax<float>(rank_four(moved), EmptyRows::zero));
  return transposed(reshaped(weights, moved.shape), exchanged);
}

/// (B,N,H*D) -> (B,H,N,D); rank 4 is that already.
Array by_head(const Array& x, std::size_t heads) {
  if (x.shape.size() == 4) return x;
  const Array split = reshaped(x, {x.shape[0], x.shape[1], heads, x.shape[2] / heads});
  return transposed(split, {0, 2, 1, 3});
}

/// Rows of a (positions, n/2) table by position_ids (B,N), or a table (B,N,n/2) as it is.
Tensor<double, 3> angles(const OnnxCase& vector, const std::string& table) {
  const Array cache = tensor_file(vector.inputs.at(table));
  if (vector.inputs.count("position_ids") == 0) return as_rank<double, 3>(cache);
  const auto rows = as_rank<double, 2>(cache);
  const auto positions = as_rank<double, 2>(tensor_file(vector.inputs.at("position_ids")));
  auto gathered = Tensor<double, 3>::make({positions.size(0), positions.size(1), rows.size(1)});
  for (std::size_t b = 0; b < positions.size(0); ++b) {
    for (std::size_t i = 0; i < positions.size(1); ++i) {
      const auto row = rows.row(static_cast<std::size_t>(positions(b, i)));
      std::copy(row.begin(), row.end(), gathered.row(b, i).begin());
    }
  }
  return gathered;
}

}  // namespace

TEST_CASE("onnx: softmax() gives the 3 Softmax vectors, over every axis") {
  if (!has_shared_folder(onnx_folder())) return;
  const auto vectors = onnx_cases("Softmax");
  REQUIRE(vectors.size() == 3);
  for (const OnnxCase& vector : vectors) {
    INFO(vector.name);
    const double axis = vector.attribute("axis", -1);
    const Array x = tensor_file(vector.inputs.at("input"));
    REQUIRE(x.shape.size() == 3);
    const Array got = softmax_over(x, static_cast<std::size_t>(axis < 0 ? axis + 3 : axis));
    CHECK(off_by_more_than_told(got, tensor_file(vector.outputs.at("output"))) == "");
  }
}

TEST_CASE(
    "onnx: rotate() gives the 4 RotaryEmbedding vectors from their tables of cosines and sines") {
  if (!has_shared_folder(onnx_folder())) return;
  const auto vectors = onnx_cases("RotaryEmbedding");
  REQUIRE(vectors.size() == 4);
  for (const OnnxCase& vector : vectors) {
    INFO(vector.name);
    const auto heads = static_cast<std::size_t>(vector.attribute("num_heads", 0));
    const auto x = as_rank<float, 4>(by_head(tensor_file(vector.inputs.at("X")), heads));
    const auto style =
        vector.attribute("interleaved", 0) != 0 ? RopeStyle::interleaved : RopeStyle::half;
    const auto turned =
        rotate<float>(x, angles(vector, "cos_cache"), angles(vector, "sin_cache"), style);
    CHECK(off_by_more_than_told(as_array(turned),
                                by_head(tensor_file(vector.outputs.at("Y")), heads)) == "");
  }
}

// Blocks in float16 and bfloat16: every stage against NumPy, each from the rounded stages before it
// (tests/data/make_half.py).
#include "qkv/tensor/half.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>

#include "qkv/block/block.hpp"
#include "support/program.hpp"

using namespace qkv;
using namespace qkv::test;

namespace {

const std::string data = std::string(QKV_TEST_DATA);

std::optional<NamedArray> file_of(const std::string& bundle, const std::string& name) {
  const std::string path = data + "/block/" + bundle + "/" + name + ".npy";
  if (!std::filesystem::exists(path)) return std::nullopt;
  return NamedArray{tensor_file(path), name + ".npy"};
}

Inputs inputs_of(const std::string& bundle) {
  const auto read = [&](const char* name) { return file_of(bundle, name); };
  Inputs in;
  in.x = read("x");
  in.wq = read("wq"), in.wk = read("wk"), in.wv = read("wv"), in.wo = read("wo");
  in.bq = read("bq"), in.bk = read("bk"), in.bv = read("bv"), in.bo = read("bo");
  return in;
}

BlockInputs block_inputs_of(const std::string& bundle) {
  const auto read = [&](const char* name) { return file_of(bundle, name); };
  BlockInputs in;
  in.norm1_w = read("norm1_w"), in.norm1_b = read("norm1_b");
  in.norm2_w = read("norm2_w"), in.norm2_b = read("norm2_b");
  in.ff_w1 = read("ff_w1"), in.ff_w2 = read("ff_w2"), in.ff_w3 = read("ff_w3");
  in.ff_b1 = read("ff_b1"), in.ff_b2 = read("ff_b2");
  return in;
}

struct BlockCase {
  std::string bundle;
  BlockSettings settings;
  WeightOrder order = WeightOrder::out_in;
  bool causal = false;
};

/// The numbers of a stage, rounded once from the exact values.
std::vector<float> golden(const std::string& bundle, Arithmetic arithmetic,
                          std::string_view stage) {
  const std::string type(name(dtype_of(arithmetic, DType::float32)));
  const Array bits = tensor_file(data + "/golden/half_block.npz:" + bundle + "." + type + "." +
                                 std::string(stage));
  std::vector<float> values(element_count(bits.shape));
  copy_elements(bits, values.data());
  for (float& value : values) {
    const auto number = static_cast<std::uint16_t>(value);
    value =
        arithmetic == Arithmetic::float16 ? float16_to_float(number) : bfloat16_to_float(number);
  }
  return values;
}

struct Count {
  std::size_t all = 0, equal = 0;
};

/// Compares each stage, and puts the right one in its place before the next step.
void hold_to(const BlockCase& the_case, Arithmetic arithmetic, Count& count) {
  Settings settings{.arithmetic = arithmetic, .heads = 3};
  settings.weight_order = the_case.order;
  settings.causal = the_case.causal;
  const auto problem = make_block_problem<float>(
      inputs_of(the_case.bundle), block_inputs_of(the_case.bundle), settings, the_case.settings);
  const double eps = epsilon(dtype_of(arithmetic, DType::float32));
  std::size_t stages = 0;
  block<float>(problem, [&](std::string_view id, Tensor<float, 4>& value) {
    INFO("stage " << id);
    const std::vector<float> want = golden(the_case.bundle, arithmetic, id);
    REQUIRE(value.size() == want.size());
    ++stages;
    double largest = 0;
    for (const float number : want) {
      if (std::isfinite(number)) largest = std::max(largest, std::abs(static_cast<double>(number)));
    }
    std::size_t outside = 0;
    for (std::size_t n = 0; n < want.size(); ++n) {
      const double got = value.data()[n], right = want[n];
      // The neighbour, where the sum of 20 products in float fell on the other side.
      const double allowed = eps * std::abs(right) + 20 * 0x1p-23 * largest;
      outside += got == right || std::abs(got - right) <= allowed ? 0 : 1;
      count.equal += got == right ? 1 : 0;
    }
    CHECK(outside == 0);
    count.all += want.size();
    value = value.clone();
    std::ranges::copy(want, value.data());
  });
  CHECK(stages >= 18);
}

}  // namespace

TEST_CASE("block: every stage in float16 and bfloat16 is NumPy's, rounded once") {
  const BlockSettings relu{}, tanh{.activation = Activation::gelu_tanh},
      gelu{.order = NormOrder::pre, .activation = Activation::gelu, .eps = 1e-3},
      rms{.kind = NormKind::rms, .activation = Activation::silu},
      gated{.activation = Activation::gelu}, pre{.order = NormOrder::pre};
  const BlockCase cases[] = {
      {"post_relu", relu},        {"post_gelu_tanh", tanh, WeightOrder::in_out},
      {"pre_gelu", gelu},         {"post_rms", rms, WeightOrder::in_out},
      {"post_gated_gelu", gated}, {"pre_relu_causal", pre, WeightOrder::out_in, true}};
  Count count;
  for (const BlockCase& the_case : cases) {
    for (const Arithmetic arithmetic : {Arithmetic::float16, Arithmetic::bfloat16}) {
      INFO(the_case.bundle);
      CHECK_NOTHROW(hold_to(the_case, arithmetic, count));
    }
  }
  CHECK(count.all > 5000);
  CHECK(count.equal * 100 >= count.all * 99);
}

// The trained model of examples/induction, against PyTorch in float64, and the head that it has
// learned.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>

#include "qkv/tensor/tensor.hpp"
#include "support/arrays.hpp"
#include "support/program.hpp"

using namespace qkv;
using namespace qkv::test;

namespace {

const std::string model = std::string(QKV_TEST_DATA) + "/../../examples/induction/model";
const std::string golden = std::string(QKV_TEST_DATA) + "/induction/";

constexpr std::size_t layers = 2, heads = 2;

/// Runs the model on golden sequence n; its stages are in `dump`.
void run_sequence(std::size_t n, const std::string& dump) {
  const Ended ended =
      run_program({"generate", model, "--tokens", golden + "ids.npy[" + std::to_string(n) + "]",
                   "--steps", "0", "--compute", "f64", "--dump", dump});
  INFO(ended.err);
  REQUIRE(ended.status == 0);
}

}  // namespace

TEST_CASE("induction: logits and attention of the trained model are those of PyTorch in float64") {
  for (std::size_t n = 0; n < 4; ++n) {
    const Folder dump;
    run_sequence(n, dump.path());
    const std::string at = std::to_string(n);
    CHECK(departure(tensor_file(dump / "logits.npy"),
                    tensor_file(golden + "logits.npy[" + at + "]"), 1e-11) == "");
    for (const std::string layer : {"0", "1"}) {
      CHECK(departure(tensor_file(dump / (layer + "/attn.npy")),
                      tensor_file(golden + "attn.npy[" + layer + "," + at + "]"), 1e-12) == "");
    }
  }
}

TEST_CASE("induction: a head of the last layer looks at what followed the letter the last time") {
  const auto ids = as_rank<double, 2>(tensor_file(golden + "ids.npy"));
  const std::size_t N = 8, L = ids.size(1);
  double weight[layers][heads] = {}, before[layers][heads] = {};
  std::size_t again = 0;
  for (std::size_t n = 0; n < N; ++n) {
    const Folder dump;
    run_sequence(n, dump.path());
    for (std::size_t layer = 0; layer < layers; ++layer) {
      const auto attn =
          as_rank<double, 3>(tensor_file(dump / (std::to_string(layer) + "/attn.npy")));
      for (std::size_t l = 1; l < L; ++l) {
        const auto row = ids.row(n);
        const auto seen =
            std::find(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(l), row[l]) -
            row.begin();
        const auto s = static_cast<std::size_t>(seen);
        if (s < l && layer == 0) ++again;
        for (std::size_t h = 0; h < heads; ++h) {
          if (s < l) weight[layer][h] += attn(h, l, s + 1);
          before[layer][h] += attn(h, l, l - 1) / static_cast<double>(N * (L - 1));
        }
      }
    }
  }
  REQUIRE(again > 40);
  const auto count = static_cast<double>(again);
  CHECK(weight[1][1] / count > 0.8);
  // It can, because a head before it has told every place its letter before; and no other layer
  // does.
  CHECK(std::max(before[0][0], before[0][1]) > 0.5);
  CHECK(std::max(weight[0][0], weight[0][1]) / count < 0.2);
}

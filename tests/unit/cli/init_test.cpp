// qkv init: how numbers are drawn, whole blocks, and bundles in which nothing hides a fault.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "support/program.hpp"

using namespace qkv;
using namespace qkv::test;

TEST_CASE("init: a revealing bundle hides no fault, with a context and without") {
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{}, {"--cross", "7"}, {"--seq", "9", "--batch", "3"}}) {
    const Folder folder;
    std::vector<std::string> words = {"init", folder.path(), "--revealing"};
    words.insert(words.end(), more.begin(), more.end());
    const Ended ended = run_program(words);
    CHECK(ended.status == 0);
    CHECK(ended.err == "");
  }
}

TEST_CASE("init: sizes that hide faults in spite of --revealing are named in a note") {
  const Folder folder;
  const Ended ended = run_program({"init", folder.path(), "--revealing", "--heads", "1"});
  CHECK(ended.status == 0);
  CHECK(ended.err.find("H = 1 hides") != std::string::npos);
  CHECK(ended.err.find("two heads or more would show it") != std::string::npos);
}

namespace {

struct Drawn {
  double least = 0, greatest = 0, mean = 0, variance = 0, count = 0;
};

Drawn measure(const std::string& file) {
  const Array array = tensor_file(file);
  Drawn drawn{.least = element(array, 0), .greatest = element(array, 0)};
  drawn.count = static_cast<double>(element_count(array.shape));
  for (std::size_t n = 0; n < element_count(array.shape); ++n) {
    const double x = element(array, n);
    drawn.least = std::min(drawn.least, x);
    drawn.greatest = std::max(drawn.greatest, x);
    drawn.mean += x / drawn.count;
    drawn.variance += x * x / drawn.count;
  }
  drawn.variance -= drawn.mean * drawn.mean;
  return drawn;
}

/// Even between low and high: inside, to within 1 % of both ends, and of that mean and variance.
/// Five standard errors: of a mean sd/sqrt(n), of a variance of even numbers var*sqrt(0.8/n).
void check_even(const Drawn& drawn, double low, double high) {
  const double width = high - low, variance = width * width / 12;
  CHECK(drawn.least >= low);
  CHECK(drawn.greatest <= high);
  CHECK(drawn.least <= low + 0.01 * width);
  CHECK(drawn.greatest >= high - 0.01 * width);
  CHECK(std::abs(drawn.mean - (low + high) / 2) <= 5 * std::sqrt(variance / drawn.count));
  CHECK(std::abs(drawn.variance - variance) <= 5 * variance * std::sqrt(0.8 / drawn.count));
}

/// Of a normal variance the standard error is var*sqrt(2/n).
void check_normal(const Drawn& drawn, double sd) {
  CHECK(std::abs(drawn.mean) <= 5 * sd / std::sqrt(drawn.count));
  CHECK(std::abs(drawn.variance - sd * sd) <= 5 * sd * sd * std::sqrt(2 / drawn.count));
}

/// A float may be rounded up beyond the bound, by half of its last digit.
double bound(double exact) { return static_cast<double>(static_cast<float>(exact)); }

}  // namespace

TEST_CASE("init: weights stay within the published bounds, and fill them") {
  // E = 300 to H·D = 2·100, to 2·150, and back from 300: fans that all differ from each other.
  for (const std::string how : {"xavier", "kaiming", "uniform", "normal"}) {
    INFO(how);
    const Folder folder;
    REQUIRE(run_program({"init", folder.path(), "--d-model", "300", "--heads", "2", "--d-k", "100",
                         "--d-v", "170", "--bias", "--seq", "64", "--init", how})
                .status == 0);
    struct Fans {
      const char* role;
      double in, out;
    };
    for (const Fans& fans :
         {Fans{"q", 300, 200}, {"k", 300, 200}, {"v", 300, 340}, {"o", 340, 300}}) {
      INFO(fans.role);
      const Drawn weight = measure(folder / "w" + fans.role + ".npy");
      if (how == "normal") {
        check_normal(weight, 0.02);
      } else if (how == "uniform") {
        check_even(weight, 0, 1);
      } else {
        const double a =
            bound(how == "xavier" ? std::sqrt(6 / (fans.in + fans.out)) : std::sqrt(6 / fans.in));
        check_even(weight, -a, a);
      }
      const Drawn bias = measure(folder / "b" + fans.role + ".npy");
      const double b = bound(1 / std::sqrt(fans.in));
      CHECK(bias.least >= -b);
      CHECK(bias.greatest <= b);
      // Even numbers below 0.9 of a bound are one in 0.9^200: some of 200 are above it.
      CHECK(bias.greatest >= 0.9 * b);
      CHECK(bias.least <= -0.9 * b);
    }
    check_normal(measure(folder / "x.npy"), 1);
  }
}

TEST_CASE("init: a block has all that qkv block asks for, in one layer or in several") {
  const std::vector<std::vector<std::string>> choices = {{},
                                                         {"--heads", "2", "--bias"},
                                                         {"--gated", "--ff-dim", "5"},
                                                         {"--layers", "3", "--d-v", "3"}};
  for (const auto& choice : choices) {
    const Folder folder;
    std::vector<std::string> words = {"init", folder.path(), "--block"};
    words.insert(words.end(), choice.begin(), choice.end());
    INFO(command_line(words));
    REQUIRE(run_program(words).status == 0);
    const Ended ended = run_program({"block", folder.path()});
    CHECK(ended.status == 0);
    CHECK(ended.err.find("error") == std::string::npos);
    const bool layers = !choice.empty() && choice.front() == "--layers";
    const bool gated = !choice.empty() && choice.front() == "--gated";
    CHECK(ended.out.find(layers ? "3 encoder blocks" : "encoder block ") == 0);
    CHECK(ended.out.find(gated ? "F=5 relu, gated" : "F=32 relu") != std::string::npos);
    const std::string where = layers ? "layers/2/" : "";
    CHECK(tensor_file(folder / where + "ff_w1.npy").shape == Shape{8, gated ? 5u : 32u});
    const Array gain = tensor_file(folder / where + "norm2_w.npy");
    const Array shift = tensor_file(folder / where + "norm1_b.npy");
    for (std::size_t n = 0; n < 8; ++n) {
      CHECK(element(gain, n) == 1);
      CHECK(element(shift, n) == 0);
    }
  }
}

TEST_CASE("init: a former bundle's layers are not read with the new ones") {
  const Folder folder;
  REQUIRE(run_program({"init", folder.path(), "--block", "--layers", "3"}).status == 0);
  const Ended fewer = run_program({"init", folder.path(), "--block", "--layers", "2", "--force"});
  CHECK(fewer.status == 2);
  CHECK(fewer.err.find("layers/2): expected no more layers than are written, got a folder") !=
        std::string::npos);
  CHECK(run_program({"init", folder.path(), "--force"}).status == 2);
  CHECK(run_program({"init", folder.path(), "--block", "--layers", "3", "--force"}).status == 0);
}

TEST_CASE("init: sizes of a block without a block are errors, as are options of attention alone") {
  const Folder folder;
  const Ended sizes = run_program({"init", folder / "a", "--ff-dim", "8", "--layers", "2"});
  CHECK(sizes.status == 2);
  CHECK(sizes.err ==
        "qkv: error: a size of a block without a block (--ff-dim): expected --block, got none\n"
        "qkv: error: a size of a block without a block (--layers): expected --block, got none\n");
  const Ended cross = run_program({"init", folder / "a", "--block", "--cross", "5"});
  CHECK(cross.status == 2);
  CHECK(cross.err ==
        "qkv: error: an option of attention alone (--cross, --block): expected one of the two, got "
        "both\n");
}

// The fast kernel, emulated on any CPU and on a matrix unit where there is one, against the double
// reference: every option, tails of every block, NaN and infinities.
#include "qkv/kernels/fast.hpp"

#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernels/matrix_unit.hpp"
#include "qkv/attention/pipeline.hpp"
#include "qkv/tensor/half.hpp"
#include "unit/kernels/options.hpp"
#include "unit/kernels/twins.hpp"

namespace qkv::test {

namespace {

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float nan_value = std::numeric_limits<float>::quiet_NaN();

std::vector<const Kernel*> fast_kernels() {
  std::vector<const Kernel*> list = {&emulated_fast_kernel()};
  Sizes any;
  any.L = any.S = any.D = any.Dv = 1;
  if (matrix_unit().usable) list.push_back(&choose_fast_kernel("bf16", any, {}));
  return list;
}

bool same_class(float a, float b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return std::isfinite(a) ? std::isfinite(b) : a == b;
}

struct Squares {
  double sum = 0;
  std::size_t count = 0;
  void add(double x) {
    if (!std::isfinite(x)) return;
    sum += x * x;
    ++count;
  }
  double root() const { return count == 0 ? 0 : std::sqrt(sum / static_cast<double>(count)); }
};

/// Root mean square of the logits before hiding, and of the weighted values as if they did not
/// cancel: sqrt(sum_s (attn[s]*v[s])^2).
struct Magnitudes {
  double logits = 0, values = 0;
};

Magnitudes magnitudes(const Problem<double>& problem) {
  Squares logits, values;
  const auto v = prepare(problem).v;
  const std::size_t group = problem.sizes.H / problem.sizes.G;
  attend<double>(problem, [&](std::string_view stage, Tensor<double, 4>& x) {
    if (stage == "scaled")
      for (const double logit : x.elements()) logits.add(logit);
    if (stage != "attn") return;
    for (std::size_t b = 0; b < x.size(0); ++b) {
      for (std::size_t h = 0; h < x.size(1); ++h) {
        for (std::size_t l = 0; l < x.size(2); ++l) {
          const auto row = x.row(b, h, l);
          for (std::size_t e = 0; e < v.size(3); ++e) {
            double sum = 0;
            for (std::size_t s = 0; s < row.size(); ++s) {
              const double part = row[s] * v(b, h / group, s, e);
              if (std::isfinite(part)) sum += part * part;
            }
            values.add(std::sqrt(sum));
          }
        }
      }
    }
  });
  return {logits.root(), values.root()};
}

/// How the fast kernels depart from the references, "" where they do not: NaN, infinite and finite
/// in the same places as the float reference; and no further from the double reference than
/// rounding the inputs explains. bfloat16 has 8 bits: a number x in [1,2) is off by up to 2^-8,
/// evenly spread, whose root mean square is 2^-8/sqrt(3), and relative to x, of which 1/x^2 is 1/2
/// in the mean, r = 2^-8/sqrt(6) = 0.0016. A logit is a sum of products of two such numbers: its
/// own error is r*sqrt(2) times the root of the products' squares, which is about the logits' own
/// root mean square z, and as much of it comes into the weight. The weight is rounded once more,
/// and v: heads are off by r*sqrt(2*z^2 + 2) of their magnitude without cancellation. The sum of
/// the weights carries errors of its own, as great relative to heads at most. Three times that is
/// allowed, for cases of a few numbers.
std::string departures_of_fast(const TwinCase& twin) {
  const auto problem = make_problem<float>(twin.inputs, twin.settings);
  const auto exact = make_problem<double>(twin.inputs, twin.settings);
  const Kernel& reference = kernel_list().back();
  const auto own = reference.run_float(problem, prepare(problem), {.wants_lse = true});
  const auto truth = reference.run_double(exact, prepare(exact), {.wants_lse = true});
  const double r = 1 / (256 * std::sqrt(6.0));
  const Magnitudes size = magnitudes(exact);
  const double relative = 3 * r * std::sqrt(2 * size.logits * size.logits + 2);

  std::string all;
  for (const Kernel* kernel : fast_kernels()) {
    const auto got = kernel->run_float(problem, prepare(problem), {.wants_lse = true});
    const auto compare = [&](const std::string& what, std::span<const float> values,
                             std::span<const float> floats, std::span<const double> doubles,
                             double allowed) {
      Squares off;
      for (std::size_t n = 0; n < values.size(); ++n) {
        if (!same_class(values[n], floats[n])) {
          all += std::string(kernel->name) + ": " + what + "[" + std::to_string(n) + "] is " +
                 std::to_string(values[n]) + ", of the reference " + std::to_string(floats[n]) +
                 "\n";
          return;
        }
        off.add(static_cast<double>(values[n]) - doubles[n]);
      }
      if (off.root() > allowed) {
        all += std::string(kernel->name) + ": " + what + " is off by " +
               std::to_string(off.root()) + ", allowed " + std::to_string(allowed) + "\n";
      }
    };
    compare("heads", got.heads.elements(), own.heads.elements(), truth.heads.elements(),
            relative * size.values);
    compare("lse", got.lse.elements(), own.lse.elements(), truth.lse.elements(), relative);
  }
  return all;
}

/// A copy of a problem's q, k or v with one element replaced.
void plant(std::optional<NamedArray>& into, double share, float value) {
  auto tensor = as_rank<float, 4>(into->array).clone();
  tensor.data()[static_cast<std::size_t>(share * static_cast<double>(tensor.size()))] = value;
  into = named(as_array(tensor));
}

}  // namespace

}  // namespace qkv::test

using namespace qkv;
using namespace qkv::test;

// Pairs of all options go through the same code with float32 products: here they are paired with
// those that hide keys, weigh hidden ones, and fill the tile in other ways.
TEST_CASE("fast: every option within what rounding the inputs explains") {
  const auto options = twin_options();
  for (const TwinOption& option : options) {
    INFO(option.name);
    for (const Queries queries : both_kinds)
      CHECK(departures_of_fast(with_options({option}, queries)) == "");
    for (const TwinOption& other : options) {
      if (other.name != "causal from the end" && other.name != "float mask of all" &&
          other.name != "fill 0.5")
        continue;
      INFO(other.name);
      CHECK(departures_of_fast(with_options({option, other})) == "");
    }
  }
}

namespace {

// Around the tiles of 16, the steps of 32, and the blocks of 64 queries (256) and 128 keys.
constexpr std::size_t queries[] = {1, 15, 16, 17, 31, 33, 47, 49, 63, 64, 65, 257};
constexpr std::size_t keys[] = {1, 2, 7, 15, 16, 17, 31, 32, 33, 63, 65, 127, 128, 129, 257};
constexpr std::size_t widths[] = {1, 2, 15, 16, 17, 31, 32, 33, 64, 80, 130};
constexpr std::size_t value_widths[] = {1, 4, 15, 16, 17, 31, 32, 33, 48, 64};

}  // namespace

TEST_CASE("fast: every length around a block size, all keys and causal from the end") {
  for (const std::size_t L : queries) {
    for (const std::size_t S : keys) {
      INFO("L " << L << ", S " << S);
      TwinCase twin = twin_case({.L = L, .S = S});
      CHECK(departures_of_fast(twin) == "");
      twin.settings.causal = true;
      twin.settings.causal_align = CausalAlign::end;
      CHECK(departures_of_fast(twin) == "");
    }
  }
}

TEST_CASE("fast: every width of q, k and of v") {
  for (const std::size_t D : widths) {
    for (const std::size_t Dv : value_widths) {
      INFO("D " << D << ", Dv " << Dv);
      CHECK(departures_of_fast(twin_case({.L = 19, .S = 70, .D = D, .Dv = Dv})) == "");
    }
  }
}

TEST_CASE("fast: scores of standard deviation 1, 10 and 30") {
  for (const double sigma : {1.0, 10.0, 30.0}) {
    INFO("sigma " << sigma);
    CHECK(departures_of_fast(twin_case({.H = 8, .L = 70, .S = 300, .D = 32, .sigma = sigma})) ==
          "");
  }
}

TEST_CASE("fast: unit normal inputs are off by about a third of a percent") {
  const TwinCase twin = twin_case({.H = 4, .G = 2, .L = 300, .S = 500, .D = 64, .Dv = 48});
  const auto problem = make_problem<float>(twin.inputs, twin.settings);
  const auto exact = make_problem<double>(twin.inputs, twin.settings);
  const auto truth = kernel_list().back().run_double(exact, prepare(exact), {});
  for (const Kernel* kernel : fast_kernels()) {
    const auto got = kernel->run_float(problem, prepare(problem), {.threads = 2});
    Squares off, size;
    for (std::size_t n = 0; n < got.heads.size(); ++n) {
      off.add(static_cast<double>(got.heads.elements()[n]) - truth.heads.elements()[n]);
      size.add(truth.heads.elements()[n]);
    }
    // 2r of the comment above, for z = 1: 0.0032. Without rounding there were nothing.
    CHECK(off.root() / size.root() > 0.0025);
    CHECK(off.root() / size.root() < 0.0040);
  }
}

TEST_CASE("fast: NaN and infinities in q, k, v and a mask come out where the reference lets them") {
  constexpr std::pair<float, double> planted[] = {{nan_value, 0.49}, {inf, 0.999}, {-inf, 0.0}};
  std::size_t turn = 0;
  for (const TwinOption& option : twin_options()) {
    const auto& [value, share] = planted[turn++ % 3];
    INFO(option.name << ", " << value << " at " << share);
    for (auto input : {&Inputs::q, &Inputs::k, &Inputs::v}) {
      TwinCase twin = with_options({option});
      plant(twin.inputs.*input, share, value);
      CHECK(departures_of_fast(twin) == "");
    }
    TwinCase twin = with_options({option});
    if (twin.inputs.mask) continue;
    auto mask = normal_tensor({twin.B, twin.H, twin.L, twin.S}, "mask");
    // A NaN of all ones: rounding its bits up would make a number of it.
    mask(0, 1, 2, 5) = std::bit_cast<float>(0x7fffffffU);
    mask(1, 0, 0, twin.S - 1) = inf;
    mask(1, 3, twin.L - 1, 77) = -inf;
    twin.inputs.mask = named(as_array(mask));
    CHECK(departures_of_fast(twin) == "");
  }
}

TEST_CASE("fast: numbers that bfloat16 cannot hold are computed in float32") {
  for (const float value :
       {std::numeric_limits<float>::max(), std::bit_cast<float>(0x7fffffffU), 3.395e38F}) {
    TwinCase twin = twin_case({.L = 20, .S = 40});
    plant(twin.inputs.v, 0.5, value);
    INFO(value);
    CHECK(departures_of_fast(twin) == "");
  }
}

TEST_CASE("fast: halves give the bytes of the floats that they are") {
  const TwinCase twin = with_options({twin_options()[0]});
  const auto problem = make_problem<float>(twin.inputs, twin.settings);
  const auto made = prepare(problem);
  HeadViews stored = made, widened = made;
  auto memory = allocate_bytes(made.k.size() * sizeof(std::uint16_t));
  auto* bits = reinterpret_cast<std::uint16_t*>(memory.get());
  auto k = made.k.clone();
  for (std::size_t n = 0; n < k.size(); ++n) {
    bits[n] = float_to_float16(k.elements()[n]);
    k.elements()[n] = float16_to_float(bits[n]);
  }
  stored.k = row_major_array(DType::float16, k.shape(), memory.get(), memory);
  widened.k = as_array(k);
  for (const Kernel* kernel : fast_kernels()) {
    const auto got = kernel->run_float(problem, stored, {}).heads;
    const auto want = kernel->run_float(problem, widened, {}).heads;
    CHECK(std::ranges::equal(got.elements(), want.elements()));
  }
}

TEST_CASE("fast: equal weights of very many keys do not round in the same direction") {
  TwinCase twin = twin_case({.H = 1, .L = 17, .S = 20000, .D = 2, .Dv = 2, .sigma = 0});
  auto v = as_rank<float, 4>(twin.inputs.v->array).clone();
  for (float& element : v.elements()) element = 1.125F;  // bfloat16 holds it
  twin.inputs.v = named(as_array(v));
  const auto problem = make_problem<float>(twin.inputs, twin.settings);
  for (const Kernel* kernel : fast_kernels()) {
    const auto got = kernel->run_float(problem, prepare(problem), {});
    for (const float x : got.heads.elements()) CHECK(std::abs(x - 1.125F) < 1e-5F);
  }
}

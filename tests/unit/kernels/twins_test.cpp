// The comparison of kernels with the reference, and that the reference is the pipeline.
#include "unit/kernels/twins.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <span>

#include "qkv/kernels/kernel.hpp"
#include "qkv/tensor/random.hpp"
#include "unit/kernels/options.hpp"

namespace qkv::test {

namespace {

enum class Class { finite, nan, plus_infinity, minus_infinity };

Class class_of(double x) {
  if (std::isnan(x)) return Class::nan;
  if (!std::isinf(x)) return Class::finite;
  return x > 0 ? Class::plus_infinity : Class::minus_infinity;
}

double greatest_finite(std::span<const float> values) {
  double greatest = 0;
  for (const float value : values)
    if (std::isfinite(value)) greatest = std::max(greatest, std::abs(static_cast<double>(value)));
  return greatest;
}

struct Errors {
  double greatest = 0, mean_square = 0;
};

Errors errors(std::span<const float> got, std::span<const double> truth) {
  Errors found;
  for (std::size_t n = 0; n < got.size(); ++n) {
    const double error = std::abs(static_cast<double>(got[n]) - truth[n]);
    if (!std::isfinite(error)) continue;
    found.greatest = std::max(found.greatest, error);
    found.mean_square += error * error / static_cast<double>(got.size());
  }
  return found;
}

std::string departure(const std::string& what, std::span<const float> got,
                      std::span<const float> reference, std::span<const double> truth,
                      double magnitude) {
  if (got.size() != reference.size()) return what + ": other sizes";
  for (std::size_t n = 0; n < got.size(); ++n) {
    if (class_of(static_cast<double>(got[n])) != class_of(static_cast<double>(reference[n]))) {
      return what + "[" + std::to_string(n) + "] is " + std::to_string(got[n]) +
             ", of the reference " + std::to_string(reference[n]);
    }
  }
  const double eps = static_cast<double>(std::numeric_limits<float>::epsilon());
  const Errors error = errors(got, truth), own = errors(reference, truth);
  const double rounding = 4 * eps * magnitude;
  if (std::sqrt(error.mean_square) <= 2 * std::sqrt(own.mean_square) + rounding &&
      error.greatest <= 3 * own.greatest + rounding) {
    return "";
  }
  return what + " is off by " + std::to_string(error.greatest / eps) +
         " eps at most, the reference by " + std::to_string(own.greatest / eps) +
         "; root of the mean square " + std::to_string(std::sqrt(error.mean_square) / eps) +
         " and " + std::to_string(std::sqrt(own.mean_square) / eps);
}

const Kernel& kernel_named(const std::string& name) {
  return *std::ranges::find(kernel_list(), std::string_view(name), &Kernel::name);
}

}  // namespace

Tensor<float, 4> normal_tensor(const std::array<std::size_t, 4>& sizes, const std::string& seed,
                               double sigma) {
  auto tensor = Tensor<float, 4>::make(sizes);
  Random random(7, seed);
  for (float& value : tensor.elements()) value = static_cast<float>(sigma * random.normal());
  return tensor;
}

NamedArray named(const Array& array) { return {array, "array.npy"}; }

TwinCase twin_case(TwinCase twin) {
  twin.settings.heads = twin.H;
  twin.settings.kv_heads = twin.G;
  // The scores of unit q and k have a variance of D, which the default scale undoes.
  twin.inputs.q = named(as_array(normal_tensor({twin.B, twin.H, twin.L, twin.D}, "q", twin.sigma)));
  twin.inputs.k = named(as_array(normal_tensor({twin.B, twin.G, twin.S, twin.D}, "k")));
  twin.inputs.v = named(as_array(normal_tensor({twin.B, twin.G, twin.S, twin.Dv}, "v")));
  return twin;
}

std::string departures(const TwinCase& twin, std::size_t threads) {
  const auto problem = make_problem<float>(twin.inputs, twin.settings);
  const auto exact = make_problem<double>(twin.inputs, twin.settings);
  const Kernel& reference = kernel_named("reference");
  const auto own = reference.run_float(problem, prepare(problem), {.wants_lse = true});
  const auto truth = reference.run_double(exact, prepare(exact), {.wants_lse = true});
  const double v = greatest_finite(prepare(problem).v.elements());

  std::string all;
  for (const Kernel& kernel : kernel_list()) {
    if (kernel.name == "reference" || !kernel.supports(problem.sizes, problem.settings)) continue;
    for (const Isa isa : isa_list()) {
      const auto got = kernel.run_float(problem, prepare(problem),
                                        {.wants_lse = true, .threads = threads, .isa = isa});
      const auto complain = [&](const std::string& text) {
        if (!text.empty()) all += engine_name(kernel, isa) + ": " + text + "\n";
      };
      complain(departure("heads", got.heads.elements(), own.heads.elements(),
                         truth.heads.elements(), v));
      complain(departure("lse", got.lse.elements(), own.lse.elements(), truth.lse.elements(),
                         greatest_finite(own.lse.elements())));
    }
  }
  return all;
}

}  // namespace qkv::test

using namespace qkv;
using namespace qkv::test;

TEST_CASE("reference: the heads of the pipeline, for every option") {
  for (const TwinOption& option : twin_options()) {
    INFO(option.name);
    const TwinCase twin = with_options({option});
    const auto problem = make_problem<double>(twin.inputs, twin.settings);
    const auto kernel = kernel_named("reference").run_double(problem, prepare(problem), {});
    Tensor<double, 4> heads;
    attend<double>(problem, [&](std::string_view stage, Tensor<double, 4>& value) {
      if (stage == "heads") heads = value;
    });
    CHECK(std::ranges::equal(kernel.heads.elements(), heads.elements(), [](double a, double b) {
      return std::abs(a - b) < 1e-12 || (std::isnan(a) && std::isnan(b));
    }));
  }
}

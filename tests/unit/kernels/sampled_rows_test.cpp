// SampledRows: what a run says of its error is what all rows would say, and it sees what is wrong.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>

#include "qkv/kernels/fast.hpp"
#include "unit/kernels/options.hpp"
#include "unit/kernels/twins.hpp"

using namespace qkv;
using namespace qkv::test;

namespace {

/// Runs the kernel over the whole problem, part by part, and compares; `spoil` may change heads.
FastError error_of(
    const TwinCase& twin, const Kernel& kernel,
    const std::function<void(KernelOutput<float>&)>& spoil = [](KernelOutput<float>&) {}) {
  const auto problem = make_problem<float>(twin.inputs, twin.settings);
  SampledRows rows(problem.sizes);
  const auto pass = attend_in_one_pass<float>(
      problem, kernel, {}, [](std::span<const float>) {},
      [&](const Part& part, const KernelRun& run, const KernelOutput<float>& output) {
        KernelOutput<float> copy = output;
        spoil(copy);
        rows.keep(part, run, copy);
      });
  return rows.error(problem, pass.views, 2);
}

const Kernel& tiled_kernel() {
  return *std::ranges::find(kernel_list(), std::string_view("tiled"), &Kernel::name);
}

}  // namespace

TEST_CASE("sampled rows: of every shape of problem, 64 or those of a group of heads") {
  struct Shape {
    std::size_t B, H, G, L, rows;
  };
  for (const auto& [B, H, G, L, rows] : {Shape{1, 1, 1, 64, 64},
                                         {1, 1, 1, 5000, 64},
                                         {2, 6, 3, 100, 64},
                                         {3, 8, 2, 1, 6 * 4},
                                         {9, 8, 8, 1, 64},
                                         {2, 4, 2, 19, 38},
                                         {1, 8, 1, 40, 320}}) {
    INFO("B " << B << ", H " << H << ", G " << G << ", L " << L);
    const TwinCase twin = twin_case({.B = B, .H = H, .G = G, .L = L, .S = 20});
    const FastError error = error_of(twin, tiled_kernel());
    CHECK(error.rows == rows);
    // The same kernel: registers of other widths round otherwise, and no more.
    CHECK(error.relative_rms < 1e-6);
    CHECK(error.greatest < 1e-5);
    const FastError fast = error_of(twin, emulated_fast_kernel());
    CHECK(fast.rows == rows);
    CHECK(fast.relative_rms > 0.002);
    CHECK(fast.relative_rms < 0.005);
    CHECK(fast.greatest > 0.002);
  }
}

TEST_CASE("sampled rows: with every option the error is a small one") {
  for (const TwinOption& option : twin_options()) {
    for (const Queries queries : both_kinds) {
      const TwinCase twin = with_options({option}, queries);
      if (twin.settings.empty_rows == EmptyRows::nan) continue;
      INFO(option.name);
      const FastError error = error_of(twin, emulated_fast_kernel());
      CHECK(error.relative_rms < 0.02);
    }
  }
}

TEST_CASE("sampled rows: twice the heads are an error of 1, a NaN is one of NaN") {
  const TwinCase twin = twin_case({.H = 2, .L = 80, .S = 30});
  const FastError doubled = error_of(twin, tiled_kernel(), [](KernelOutput<float>& output) {
    for (float& x : output.heads.elements()) x *= 2;
  });
  CHECK(std::abs(doubled.relative_rms - 1) < 1e-6);
  const FastError lost = error_of(twin, tiled_kernel(), [](KernelOutput<float>& output) {
    output.heads(0, 0, 0, 1) = NAN;  // the first position is a sample
  });
  CHECK(std::isnan(lost.relative_rms));
  CHECK(std::isnan(lost.greatest));
}

TEST_CASE("sampled rows: rows that are NaN on both sides are no difference") {
  TwinCase twin = twin_case({.H = 1, .L = 80, .S = 30});
  auto v = as_rank<float, 4>(twin.inputs.v->array).clone();
  for (float& x : v.elements()) x = NAN;
  twin.inputs.v = named(as_array(v));
  const FastError error = error_of(twin, emulated_fast_kernel());
  CHECK(error.relative_rms == 0);
  CHECK(error.greatest == 0);
}

// What masks, layouts and windows cost: each run stands beside one without, and `share` is the best
// time with over the best without. The statistics of a tensor stand beside the reading speed.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "limits.hpp"
#include "qkv/tensor/stats.hpp"
#include "workload.hpp"

namespace qkv::bench {

namespace {

/// A problem and where its inputs lie.
struct Variant {
  Problem<float> problem = {};
  HeadViews views = {};
};

/// `part`: the share of the work that `changed` leaves.
using Change = std::function<double(const Workload&, Variant& changed)>;

double add_float_mask(const Workload& work, Variant& changed) {
  changed.problem.visibility.added = normal({1, 1, work.L, work.S}, "mask", 1);
  return 1;
}

double add_bool_mask(const Workload& work, Variant& changed) {
  auto hidden = Tensor<std::uint8_t, 4>::make({1, 1, work.L, work.S});
  const Tensor<float, 4> drawn = normal({1, 1, work.L, work.S}, "mask", 1);
  std::ranges::transform(drawn.elements(), hidden.elements().begin(),
                         [](float x) { return static_cast<std::uint8_t>(x > 1); });
  changed.problem.visibility.hidden_by_mask = hidden;
  return 1;
}

/// The same numbers in the same order, as (B,L,H,D).
double put_heads_inside(const Workload& work, Variant& changed) {
  const auto inside = [&](Array& array, std::size_t heads, std::size_t rows) {
    array = transposed(reshaped(array, {work.B, rows, heads, work.D}), {0, 2, 1, 3});
  };
  inside(changed.views.q, work.H, work.L);
  inside(changed.views.k, work.G, work.S);
  inside(changed.views.v, work.G, work.S);
  return 1;
}

/// Blocks of 64 queries meet the blocks of 64 keys that the window lets through.
double narrow_window(const Workload& work, Variant& changed) {
  constexpr long long left = 256, block = 64;
  changed.problem.visibility.window = Window{left, 0};
  changed.problem.visibility.window_offset.assign(work.B, 0);
  double seen = 0;
  const auto L = static_cast<long long>(work.L);
  for (long long first = 0; first < L; first += block)
    seen += static_cast<double>(first / block - std::max(first - left, 0LL) / block + 1);
  const double blocks = std::ceil(static_cast<double>(work.L) / static_cast<double>(block)) *
                        std::ceil(static_cast<double>(work.S) / static_cast<double>(block));
  return seen / blocks;
}

void run_beside(benchmark::State& state, const Workload& work, const Change& change) {
  const QueryKeyValue<float> inputs = inputs_of(work);
  const Variant plain = {problem_of(work), inputs};
  Variant changed = {problem_of(work), inputs};
  const double part = change(work, changed);
  Buffer buffer;
  const KernelRun how = {.buffer = &buffer, .threads = 1, .isa = isa_list().front()};
  const auto time = [&](const Variant& variant) {
    return seconds_of([&] {
      const auto output = kernel_of(work).run_float(variant.problem, variant.views, how);
      benchmark::DoNotOptimize(output.heads.data());
    });
  };
  double best = HUGE_VAL, best_plain = HUGE_VAL;
  for ([[maybe_unused]] const auto iteration : state) {
    best_plain = std::min(best_plain, time(plain));
    const double seconds = time(changed);
    best = std::min(best, seconds);
    state.SetIterationTime(seconds);
  }
  state.counters["best_ms"] = best * 1e3;
  state.counters["share"] = best / (best_plain * part);
}

void run_statistics(benchmark::State& state, std::size_t count) {
  const Tensor<float, 4> numbers = normal({1, 1, count / 64, 64}, "x", 1);
  double best = HUGE_VAL, limit = 0;
  for ([[maybe_unused]] const auto iteration : state) {
    limit = std::max(limit, read_speed(numbers.elements(), 1));
    const double seconds =
        seconds_of([&] { benchmark::DoNotOptimize(stats_of(numbers.elements()).mean); });
    best = std::min(best, seconds);
    state.SetIterationTime(seconds);
  }
  state.counters["best_ms"] = best * 1e3;
  state.counters["share"] = static_cast<double>(count * sizeof(float)) / best / limit;
}

}  // namespace

void register_variants(bool is_tiny) {
  const int runs = is_tiny ? 1 : 10;
  const auto add = [&](const char* title, const Workload& listed, const Change& change) {
    const Workload work = is_tiny ? tiny(listed) : listed;
    benchmark::RegisterBenchmark(title,
                                 [=](benchmark::State& state) { run_beside(state, work, change); })
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond)
        ->Iterations(runs);
  };
  const Workload middle = {"", "tiled", Limit::multiply_add, 1, 8, 8, 2048, 2048, 64};
  const Workload length = {"", "tiled", Limit::multiply_add, 1, 1, 1, 16384, 16384, 64};
  add("L2048_D64_float_mask/times_none", middle, add_float_mask);
  add("L2048_D64_bool_mask/times_none", middle, add_bool_mask);
  add("L2048_D64_heads_inside/times_outside", middle, put_heads_inside);
  add("L16384_D64_window256/times_share", length, narrow_window);
  benchmark::RegisterBenchmark(
      "statistics_256MB/of_read",
      [=](benchmark::State& state) { run_statistics(state, is_tiny ? 6400 : 64 << 20); })
      ->UseManualTime()
      ->Unit(benchmark::kMillisecond)
      ->Iterations(runs);
}

}  // namespace qkv::bench

// Speed of the kernels. Each run stands beside a fresh measurement of what the CPU can do; `share`
// is the best of all runs over the best of those. Rows named times_float32, where the CPU has a
// matrix unit, have the float32 kernel beside each run, and a share of how many times faster it is.
//   usage: qkv_bench [--tiny] [options of Google Benchmark]
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "limits.hpp"
#include "qkv/base/error.hpp"
#include "qkv/kernels/fast.hpp"
#include "workload.hpp"

namespace qkv::bench {

namespace {

const std::vector<Workload>& workloads() {
  static const std::vector<Workload> list = {
      {"L1024_D64", "tiled", Limit::multiply_add, 1, 8, 8, 1024, 1024, 64},
      {"L1024_D64_sigma30", "tiled", Limit::multiply_add, 1, 8, 8, 1024, 1024, 64, false, 30},
      {"L1024_D64_sigma100", "tiled", Limit::multiply_add, 1, 8, 8, 1024, 1024, 64, false, 100},
      {"L4096_D64", "tiled", Limit::multiply_add, 1, 4, 4, 4096, 4096, 64},
      {"L4096_D64_causal", "tiled", Limit::multiply_add, 1, 4, 4, 4096, 4096, 64, true},
      {"L512_D64_causal", "tiled", Limit::multiply_add, 1, 16, 16, 512, 512, 64, true},
      {"L2048_D128", "tiled", Limit::multiply_add, 1, 4, 4, 2048, 2048, 128},
      {"B8_L128_D64", "tiled", Limit::multiply_add, 8, 12, 12, 128, 128, 64},
      {"L8_grouped_S8192_D128", "tiled", Limit::multiply_add, 1, 32, 8, 8, 8192, 128},
      {"decode_S8192_D128", "decode", Limit::read, 1, 32, 32, 1, 8192, 128},
      {"decode_grouped_S8192_D128", "decode", Limit::read, 1, 32, 8, 1, 8192, 128},
  };
  return list;
}

void run(benchmark::State& state, const Workload& work, Isa isa, std::size_t threads) {
  const Problem<float> problem = problem_of(work);
  const QueryKeyValue<float> qkv = inputs_of(work);
  const Kernel& kernel = kernel_of(work);
  double best = HUGE_VAL, limit = 0;
  Buffer buffer;
  for ([[maybe_unused]] const auto iteration : state) {
    limit = std::max(limit, work.limit == Limit::read ? read_speed(qkv.k.elements(), threads)
                                                      : multiply_add_peak(isa, threads));
    const double seconds = seconds_of([&] {
      const auto output =
          kernel.run_float(problem, qkv, {.buffer = &buffer, .threads = threads, .isa = isa});
      benchmark::DoNotOptimize(output.heads.data());
    });
    best = std::min(best, seconds);
    state.SetIterationTime(seconds);
  }
  const double done = work.limit == Limit::read
                          ? static_cast<double>((qkv.k.size() + qkv.v.size()) * sizeof(float))
                          : operations(work);
  state.counters["best_ms"] = best * 1e3;
  state.counters["GFLOP/s"] = operations(work) / best / 1e9;
  state.counters["share"] = done / best / limit;
}

/// True where this CPU has a matrix unit for choose_fast_kernel().
bool has_fast_kernel(const Workload& work) {
  try {
    choose_fast_kernel("bf16", problem_of(work).sizes, {});
    return true;
  } catch (const Error&) {
    return false;
  }
}

/// The fast kernel beside the same in float32: `share` is how many times faster it is.
void run_fast(benchmark::State& state, const Workload& work, std::size_t threads) {
  const Problem<float> problem = problem_of(work);
  const QueryKeyValue<float> qkv = inputs_of(work);
  const Kernel& fast = choose_fast_kernel("bf16", problem.sizes, {});
  const KernelRun how = {.threads = threads, .isa = isa_list().front()};
  const auto time = [&](const Kernel& kernel) {
    return seconds_of([&] {
      const auto output = kernel.run_float(problem, qkv, how);
      benchmark::DoNotOptimize(output.heads.data());
    });
  };
  double best = HUGE_VAL, best_float = HUGE_VAL;
  for ([[maybe_unused]] const auto iteration : state) {
    best_float = std::min(best_float, time(kernel_of(work)));
    const double seconds = time(fast);
    best = std::min(best, seconds);
    state.SetIterationTime(seconds);
  }
  state.counters["best_ms"] = best * 1e3;
  state.counters["GFLOP/s"] = operations(work) / best / 1e9;
  state.counters["share"] = best_float / best;
}

void register_all(bool is_tiny) {
  for (const Workload& listed : workloads()) {
    const Workload work = is_tiny ? tiny(listed) : listed;
    const bool fast_too =
        (work.name == "L1024_D64" || work.name == "L2048_D128") && has_fast_kernel(work);
    for (const std::size_t threads : {1U, 2U}) {
      if (!fast_too) break;
      const std::string title =
          work.name + "/fast-bf16/threads:" + std::to_string(threads) + "/times_float32";
      benchmark::RegisterBenchmark(title.c_str(),
                                   [=](benchmark::State& state) { run_fast(state, work, threads); })
          ->UseManualTime()
          ->Unit(benchmark::kMillisecond)
          ->Iterations(is_tiny ? 1 : 20);
    }
    for (const Isa isa : isa_list()) {
      for (const std::size_t threads : {1U, 2U}) {
        const std::string title = work.name + "/" + std::string(name(isa)) +
                                  "/threads:" + std::to_string(threads) +
                                  (work.limit == Limit::read ? "/of_read" : "/of_peak");
        benchmark::RegisterBenchmark(
            title.c_str(), [=](benchmark::State& state) { run(state, work, isa, threads); })
            ->UseManualTime()
            ->Unit(benchmark::kMillisecond)
            ->Iterations(is_tiny ? 1 : 20);
      }
    }
  }
}

}  // namespace

}  // namespace qkv::bench

int main(int count, char** arguments) {
  const bool is_tiny = count > 1 && std::strcmp(arguments[1], "--tiny") == 0;
  if (is_tiny) std::rotate(arguments + 1, arguments + 2, arguments + count);
  if (is_tiny) --count;
  qkv::bench::register_all(is_tiny);
  qkv::bench::register_variants(is_tiny);
  benchmark::Initialize(&count, arguments);
  if (benchmark::ReportUnrecognizedArguments(count, arguments)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

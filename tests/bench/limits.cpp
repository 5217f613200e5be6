// Multiply-add peak and read bandwidth, measured when asked: a shared machine changes by the
// minute.
#include "limits.hpp"

#include <chrono>
#include <thread>
#include <vector>

namespace qkv::bench {

double multiply_add_baseline();
#if defined(__x86_64__)
double multiply_add_avx2();
double multiply_add_avx512();
#endif

namespace {

double multiply_add(Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::avx512) return multiply_add_avx512();
  if (isa == Isa::avx2) return multiply_add_avx2();
#endif
  (void)isa;
  return multiply_add_baseline();
}

float sum_of(std::span<const float> numbers) {
  constexpr std::size_t line = 16, chains = 4 * line;
  float sums[chains] = {};
  for (std::size_t n = 0; n + chains <= numbers.size(); n += chains) {
    for (std::size_t at = 0; at < chains; at += line)
      __builtin_prefetch(numbers.data() + n + at + 128 * line, 0, 2);
    for (std::size_t at = 0; at < chains; ++at) sums[at] += numbers[n + at];
  }
  float sum = 0;
  for (const float part : sums) sum += part;
  return sum;
}

/// Calls work(thread) on that many threads at once.
template <class Work>
void on_threads(std::size_t threads, const Work& work) {
  std::vector<std::thread> others;
  for (std::size_t thread = 1; thread < threads; ++thread) others.emplace_back(work, thread);
  work(std::size_t{0});
  for (std::thread& other : others) other.join();
}

}  // namespace

double multiply_add_peak(Isa isa, std::size_t threads) {
  std::vector<double> peaks(threads);
  on_threads(threads, [&](std::size_t thread) {
    const auto start = std::chrono::steady_clock::now();
    const double done = multiply_add(isa);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    peaks[thread] = done / seconds.count();
  });
  double sum = 0;
  for (const double peak : peaks) sum += peak;
  return sum;
}

double read_speed(std::span<const float> numbers, std::size_t threads) {
  std::vector<float> sums(threads);
  const std::size_t share = numbers.size() / threads;
  const auto start = std::chrono::steady_clock::now();
  on_threads(threads, [&](std::size_t thread) {
    sums[thread] = sum_of(numbers.subspan(thread * share, share));
  });
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  [[maybe_unused]] volatile float used = sums[0];
  return static_cast<double>(share * threads * sizeof(float)) / seconds.count();
}

}  // namespace qkv::bench

// Progress: a bar with rate and time left on the terminal, for work that takes over two seconds.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "cli/console.hpp"

namespace qkv::cli {

/// "run  [#####-----]  50 %  81 GFLOP/s  0:07 left", cut to `width` columns. share 0: nothing is
/// known yet, so neither rate nor time left; `left` in seconds.
std::string progress_line(const std::string& what, double share, const std::string& rate,
                          double left, std::size_t width);

/// A rate in words: from done work a second to "81.2 GFLOP/s".
using RateText = std::function<std::string(double per_second)>;

/// "81.2 GFLOP/s"
std::string operations_rate(double per_second);
/// "3.4 GiB/s"
std::string bytes_rate(double per_second);

/// Draws on standard error, where that is a terminal and notes are wanted, from the third second
/// on, and leaves nothing behind. A thread of its own keeps the line alive while a step is long.
class Progress {
 public:
  Progress(const ConsoleOptions& options, std::string what, RateText rate = {});
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// False where nothing is ever drawn, and nobody need call.
  bool shown() const { return thread_.joinable(); }

  /// This share of the time is over, and so much work done, in the unit of the rate.
  void operator()(double share, double done = 0);
  /// From here on `what` is being done.
  void begin(std::string_view what, double share, double done = 0);

 private:
  using Clock = std::chrono::steady_clock;

  void draw();
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  const Clock::time_point start_ = Clock::now();
  const RateText rate_;
  std::mutex mutex_;  ///< of all below
  std::condition_variable ended_;
  std::string what_;
  double share_ = 0, done_ = 0;
  double share_after_ = 0;  ///< seconds from the start until share_ was reached
  bool end_ = false;
  bool drawn_ = false;
  std::thread thread_;
};

}  // namespace qkv::cli

// Progress: a thread that redraws one line, and wipes it at the end.
#include "cli/progress.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <system_error>

#include "qkv/base/text.hpp"

namespace qkv::cli {

namespace {

constexpr std::chrono::milliseconds quiet_for(2000), between(200);

bool on_terminal() {
  const char* terminal = std::getenv("TERM");
  const bool dumb = terminal == nullptr || std::string_view(terminal) == "dumb";
  return isatty(STDERR_FILENO) == 1 && !dumb;
}

std::size_t columns() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

/// At once, whatever a buffer holds; a terminal that is gone is no reason to stop.
void write_to_terminal(const std::string& text) {
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
}

std::string time_text(double seconds) {
  const auto whole = static_cast<long long>(std::ceil(std::min(seconds, 3.6e8)));
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

}  // namespace

std::string operations_rate(double per_second) {
  return fmt::format("{:.3g} GFLOP/s", per_second / 1e9);
}

std::string bytes_rate(double per_second) { return bytes_text(per_second) + "/s"; }

std::string progress_line(const std::string& what, double share, const std::string& rate,
                          double left, std::size_t width) {
  constexpr int cells = 20;
  share = std::clamp(share, 0.0, 1.0);
  const auto full = static_cast<int>(std::floor(cells * share));
  std::string line = fmt::format("{}  [{:#<{}}{:-<{}}]  {:3.0f} %", what, "", full, "",
                                 cells - full, std::floor(100 * share));
  if (share > 0) {
    if (!rate.empty()) line += "  " + rate;
    line += "  " + time_text(left) + " left";
  }
  // A line that reached the last column would wrap, and half of it could not be wiped.
  return line.size() < width ? line : line.substr(0, width > 0 ? width - 1 : 0);
}

Progress::Progress(const ConsoleOptions& options, std::string what, RateText rate)
    : rate_(std::move(rate)), what_(std::move(what)) {
  if (options.quiet || !on_terminal()) return;
  // Signals are for the main thread.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = std::thread([this] {
      std::unique_lock lock(mutex_);
      if (ended_.wait_for(lock, quiet_for, [this] { return end_; })) return;
      do draw();
      while (!ended_.wait_for(lock, between, [this] { return end_; }));
    });
  } catch (const std::system_error&) {
    // The system has no thread to give: the work goes on without a bar.
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Progress::~Progress() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    end_ = true;
  }
  ended_.notify_one();
  thread_.join();
  if (drawn_) write_to_terminal("\r\033[K");
}

void Progress::operator()(double share, double done) {
  if (!shown()) return;
  const std::lock_guard lock(mutex_);
  share_ = share;
  done_ = done;
  share_after_ = seconds();
}

void Progress::begin(std::string_view what, double share, double done) {
  if (!shown()) return;
  const std::lock_guard lock(mutex_);
  what_ = what;
  share_ = share;
  done_ = done;
  share_after_ = seconds();
}

void Progress::draw() {
  const double left = share_ > 0 ? share_after_ / share_ - seconds() : 0;
  const std::string rate = rate_ && share_after_ > 0 ? rate_(done_ / share_after_) : std::string();
  write_to_terminal("\r" + progress_line(what_, share_, rate, std::max(left, 0.0), columns()) +
                    "\033[K");
  drawn_ = true;
}

}  // namespace qkv::cli

// Temporary files that must not outlive the process, however it ends.
#include "io/temporaries.hpp"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>

namespace qkv {

namespace {

/// Room for as many outputs as a process writes at once; a file beyond them is only removed by its
/// OutputFile.
constexpr std::size_t most = 64;

// A signal handler takes no arguments, so what it removes must be global: this registry is the
// program's only mutable global. Whoever exchanges a path for null owns it, and only lock-free
// atomics are touched by the handler; the mutex keeps the program's threads from one another.
std::array<std::atomic<char*>, most> paths;
std::mutex mutex;
static_assert(std::atomic<char*>::is_always_lock_free);

constexpr int ending_signals[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGPIPE,
                                  SIGTERM, SIGXCPU, SIGXFSZ, SIGBUS};

/// Async-signal-safe: unlink() is, and nothing is freed.
void remove_all() noexcept {
  for (std::atomic<char*>& slot : paths) {
    if (const char* path = slot.exchange(nullptr)) ::unlink(path);
  }
}

extern "C" void qkv_remove_temporaries_and_end(int signal_number) {
  remove_all();
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  ::sigaction(signal_number, &standard, nullptr);
  ::raise(signal_number);  // delivered when this handler returns
}

bool watch_signals() {
  for (const int signal_number : ending_signals) {
    struct sigaction old {};
    if (::sigaction(signal_number, nullptr, &old) != 0 || old.sa_handler != SIG_DFL) continue;
    struct sigaction ours {};
    ours.sa_handler = qkv_remove_temporaries_and_end;
    sigfillset(&ours.sa_mask);
    ::sigaction(signal_number, &ours, nullptr);
  }
  return true;
}

}  // namespace

void remember_temporary(const std::string& path) {
  static const bool watching = watch_signals();
  static_cast<void>(watching);
  char* copy = ::strdup(path.c_str());
  if (copy == nullptr) return;
  const std::lock_guard lock(mutex);
  for (std::atomic<char*>& slot : paths) {
    char* none = nullptr;
    if (slot.compare_exchange_strong(none, copy)) return;
  }
  std::free(copy);
}

void forget_temporary(const std::string& path) noexcept {
  const std::lock_guard lock(mutex);
  for (std::atomic<char*>& slot : paths) {
    char* remembered = slot.load();
    if (remembered == nullptr || path != remembered) continue;
    if (slot.compare_exchange_strong(remembered, nullptr)) std::free(remembered);
    return;
  }
}

void end_by_broken_pipe() noexcept {
  remove_all();
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  ::sigaction(SIGPIPE, &standard, nullptr);
  ::raise(SIGPIPE);
  ::_exit(128 + SIGPIPE);  // where the signal is blocked
}

}  // namespace qkv

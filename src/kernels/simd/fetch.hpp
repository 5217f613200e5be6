// Fetch: memory that will be wanted soon, brought to the second-level cache line by line while
// other work goes on.
#pragma once

#include "kernels/simd/source.hpp"

namespace qkv {
namespace {

/// A burst of prefetches keeps the core waiting for memory as the loads themselves would; one at a
/// time, each between multiply-adds, they cost nothing.
class Fetch {
 public:
  /// `rows` rows of `bytes` bytes, `row` bytes apart, behind those that were added before.
  void add(const void* at, std::ptrdiff_t rows, std::ptrdiff_t row, std::ptrdiff_t bytes) {
    if (rows <= 0 || bytes <= 0 || count_ == most_strips) return;
    if (row == bytes) {
      bytes *= rows;
      rows = 1;
    }
    const auto before = static_cast<std::ptrdiff_t>(reinterpret_cast<std::uintptr_t>(at) % line);
    strips_[count_++] = {static_cast<const char*>(at) - before, rows, row,
                         (before + bytes + line - 1) / line};
    if (left_ == 0) take(strips_[next_]);
  }
  /// Asks for a line and goes on by `Lines`; to those between the CPU's own prefetchers follow.
  template <int Lines = 1>
  void step() {
    if (left_ == 0) return;
    __builtin_prefetch(at_, 0, 2);
    at_ += Lines * line;
    left_ -= Lines;
    if (left_ <= 0) turn();
  }
  /// All that is left.
  void finish() {
    while (left_ > 0) step();
  }

 private:
  static constexpr std::ptrdiff_t line = 64;
  static constexpr int most_strips = 16;
  struct Strip {
    const char* at;
    std::ptrdiff_t rows, row, lines;
  };

  void take(const Strip& strip) {
    at_ = strip.at;
    left_ = strip.lines;
  }
  /// To the next row.
  void turn() {
    left_ = 0;
    Strip& strip = strips_[next_];
    strip.at += strip.row;
    if (--strip.rows > 0) return take(strip);
    if (++next_ < count_) take(strips_[next_]);
  }

  const char* at_ = nullptr;
  std::ptrdiff_t left_ = 0;  ///< lines of the row
  int count_ = 0, next_ = 0;
  Strip strips_[most_strips];
};

/// Rows [from, to) of one head.
inline void fetch_rows(const Source& source, std::ptrdiff_t b, std::ptrdiff_t h,
                       std::ptrdiff_t from, std::ptrdiff_t to, std::ptrdiff_t columns,
                       Fetch& fetch) {
  const std::ptrdiff_t at = offset(source, b, h, from);
  if (source.floats != nullptr) {
    fetch.add(source.floats + at, to - from, source.at.i * 4, columns * 4);
  } else {
    fetch.add(source.halves + at, to - from, source.at.i * 2, columns * 2);
  }
}

}  // namespace
}  // namespace qkv

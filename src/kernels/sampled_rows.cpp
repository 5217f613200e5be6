// SampledRows: how far a fast run is from float32, by some rows that are computed again.
#include <algorithm>
#include <cmath>

#include "qkv/base/parallel.hpp"
#include "qkv/kernels/fast.hpp"
#include "tiled.hpp"

namespace qkv {

namespace {

constexpr std::size_t wanted_rows = 64;

/// Neighbours share a register: four cost what one does.
constexpr std::size_t neighbours = 4;

/// From this length on a kernel may be given some positions of one head, see parts_of().
constexpr std::size_t cut_length = 64;

/// The n-th of `count` places, evenly spread over [0, end).
std::size_t spread(std::size_t n, std::size_t count, std::size_t end) {
  return count < 2 ? 0 : n * (end - 1) / (count - 1);
}

/// Calls visit(b, h, l) for each row of a part, in order.
template <class Visit>
void for_each_row(const Part& part, const Visit& visit) {
  for (std::size_t b = part.b; b < part.b_end; ++b)
    for (std::size_t h = part.h; h < part.h_end; ++h)
      for (std::size_t l = part.l; l < part.l_end; ++l) visit(b, h, l);
}

}  // namespace

SampledRows::SampledRows(const Sizes& sizes) : sizes_(sizes) {
  const std::size_t L = sizes.L, group = sizes.H / sizes.G;
  if (L >= cut_length) {
    const std::size_t heads = sizes.B * sizes.H, count = wanted_rows / neighbours;
    for (std::size_t n = 0; n < count; ++n) {
      const std::size_t head = heads < count ? n % heads : spread(n, count, heads);
      const std::size_t b = head / sizes.H, h = head % sizes.H;
      const std::size_t l = spread(n, count, L - neighbours + 1);
      parts_.push_back({b, b + 1, h, h + 1, l, l + neighbours});
    }
  } else {  // whole groups of heads
    const std::size_t groups = sizes.B * sizes.G;
    const std::size_t count =
        std::clamp<std::size_t>(wanted_rows / (group * L), 1, std::max<std::size_t>(groups, 1));
    for (std::size_t n = 0; n < count; ++n) {
      const std::size_t place = spread(n, count, groups);
      const std::size_t b = place / sizes.G, h = place % sizes.G * group;
      parts_.push_back({b, b + 1, h, h + group, 0, L});
    }
  }
  for (const Part& part : parts_) {
    const std::size_t rows = (part.h_end - part.h) * (part.l_end - part.l);
    samples_.emplace_back(rows * sizes.Dv);
  }
}

void SampledRows::keep(const Part& part, const KernelRun& run, const KernelOutput<float>& output) {
  for (std::size_t n = 0; n < parts_.size(); ++n) {
    auto to = samples_[n].begin();
    for_each_row(parts_[n], [&](std::size_t b, std::size_t h, std::size_t l) {
      if (b >= part.b && b < part.b_end && h >= part.h && h < part.h_end && l >= part.l &&
          l < part.l_end) {
        std::ranges::copy(run.heads_inside ? output.heads.row(b - part.b, l - part.l, h - part.h)
                                           : output.heads.row(b - part.b, h - part.h, l - part.l),
                          to);
      }
      to += static_cast<std::ptrdiff_t>(sizes_.Dv);
    });
  }
}

FastError SampledRows::error(const Problem<float>& problem, const HeadViews& views,
                             std::size_t threads) const {
  std::vector<KernelOutput<float>> outputs(parts_.size());
  parallel(threads, parts_.size(), [&](std::size_t n, std::size_t) {
    outputs[n] = tiled(problem, views, {.part = parts_[n], .isa = isa_list().front()});
  });
  FastError error;
  double squares = 0, reference_squares = 0;
  for (std::size_t n = 0; n < parts_.size(); ++n) {
    error.rows += samples_[n].size() / sizes_.Dv;
    for (std::size_t at = 0; at < samples_[n].size(); ++at) {
      const auto exact = static_cast<double>(outputs[n].heads.elements()[at]);
      const auto got = static_cast<double>(samples_[n][at]);
      if (got == exact || (std::isnan(got) && std::isnan(exact))) {
        if (std::isfinite(exact)) reference_squares += exact * exact;
        continue;
      }
      const double difference = std::abs(got - exact);
      squares += difference * difference;
      reference_squares += exact * exact;
      // A NaN, once there, stays.
      if (!(difference <= error.greatest) && !std::isnan(error.greatest))
        error.greatest = difference;
    }
  }
  error.relative_rms = squares == 0 ? 0 : std::sqrt(squares / reference_squares);
  return error;
}

}  // namespace qkv

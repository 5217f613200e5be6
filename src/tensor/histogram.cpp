// Histogram: finite values counted in equal bins between the least and the greatest.
#include <algorithm>
#include <array>
#include <cmath>

#include "qkv/tensor/stats.hpp"
#include "tensor/elements.hpp"

namespace qkv {

std::vector<double> histogram_edges(const Stats& stats, std::size_t bins) {
  if (stats.finite == 0 || bins == 0) return {};
  const bool flat = stats.min == stats.max;
  const double low = flat ? stats.min - 0.5 : stats.min;
  const double high = flat ? stats.max + 0.5 : stats.max;
  const auto count = static_cast<double>(bins);
  const double range = high - low;
  const double step = std::isfinite(range) ? range / count : high / count - low / count;
  std::vector<double> edges(bins + 1);
  for (std::size_t i = 0; i < bins; ++i) edges[i] = low + static_cast<double>(i) * step;
  edges[bins] = high;
  return edges;
}

std::vector<std::size_t> histogram_of(const Array& array, const Stats& stats, std::size_t bins) {
  std::vector<std::size_t> counts(bins, 0);
  const std::vector<double> edges = histogram_edges(stats, bins);
  if (edges.empty()) return counts;

  constexpr std::size_t block_size = 4096;
  std::array<double, block_size> block;
  const Elements elements(array);
  for (std::size_t first = 0; first < elements.count(); first += block_size) {
    const std::size_t size = std::min(block_size, elements.count() - first);
    elements.copy(first, size, block.data());
    for (std::size_t n = 0; n < size; ++n) {
      if (!std::isfinite(block[n])) continue;
      // The edges decide, not a division that rounds: the bin ends before the first edge above.
      const auto above = std::upper_bound(edges.begin() + 1, edges.end() - 1, block[n]);
      ++counts[static_cast<std::size_t>(above - edges.begin()) - 1];
    }
  }
  return counts;
}

}  // namespace qkv

// Parts: the queries cut so that what comes of each part is the next piece of out.
#include "parts.hpp"

#include <algorithm>

namespace qkv {

namespace {

/// Rows that keep all threads busy, where there are as many.
constexpr std::size_t least_rows = 2048;

}  // namespace

Part whole(const Sizes& sizes) { return {0, sizes.B, 0, sizes.H, 0, sizes.L}; }

bool heads_inside(const Sizes& sizes, const Settings& settings) {
  return sizes.has_wo || !sizes.rank_four || settings.layout == Layout::blhd;
}

std::vector<Part> parts_of(const Sizes& sizes, bool inside, double bytes_per_row,
                           double most_bytes) {
  const std::size_t B = sizes.B, H = sizes.H, L = sizes.L;
  if (B == 0 || H == 0 || L == 0) return {whole(sizes)};
  // Rows that a part has at most, each of one query and one head.
  const auto most =
      std::max(static_cast<std::size_t>(most_bytes / std::max(bytes_per_row, 1.0)), least_rows);
  std::vector<Part> parts;
  if (H * L <= most) {  // whole batch rows
    const std::size_t count = most / (H * L);
    for (std::size_t b = 0; b < B; b += count)
      parts.push_back({b, std::min(b + count, B), 0, H, 0, L});
    return parts;
  }
  // Some heads of a batch row, or some positions of it; of one head where the heads lie outside.
  const std::size_t group = H / sizes.G;
  const bool some_heads = !inside && group * L <= most;
  const std::size_t heads = some_heads ? most / (group * L) * group : (inside ? H : 1);
  // Few queries of a group go together: they share what is read.
  const std::size_t length = some_heads ? L : std::max(most / heads / 256 * 256, std::size_t{256});
  for (std::size_t b = 0; b < B; ++b) {
    for (std::size_t h = 0; h < H; h += heads) {
      for (std::size_t l = 0; l < L; l += length)
        parts.push_back({b, b + 1, h, std::min(h + heads, H), l, std::min(l + length, L)});
    }
  }
  return parts;
}

}  // namespace qkv

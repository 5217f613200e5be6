// SizeFinder: the small questions.
#include "size_finder.hpp"

namespace qkv {

void SizeFinder::complain(std::string what, std::string where, std::string expected,
                          std::string got, std::string hint) {
  complaints_.add(
      {std::move(what), std::move(where), std::move(expected), std::move(got), std::move(hint)});
}

bool SizeFinder::require_rank(const MaybeArray& named, std::initializer_list<std::size_t> ranks,
                              const std::string& expected, const std::string& hint) {
  for (const std::size_t rank : ranks) {
    if (shape_of(named).size() == rank) return true;
  }
  complain("wrong rank", named->where, expected, shape_text(shape_of(named)), hint);
  return false;
}

std::size_t SizeFinder::split(std::size_t width, std::size_t heads, const MaybeArray& named,
                              const std::string& symbol, const std::string& flag) {
  if (width % heads == 0) return width / heads;
  complain("heads do not divide the width", named->where + ", " + symbol,
           "a multiple of " + std::to_string(heads) + " as in " + flag,
           std::to_string(width) + " in " + shape_text(shape_of(named)));
  return 0;
}

std::string SizeFinder::kv_flag() const { return settings_.kv_heads ? "--kv-heads" : "--heads"; }

std::string SizeFinder::grouped_hint(std::size_t k_width) const {
  if (settings_.kv_heads || sizes_.D == 0 || k_width % sizes_.D != 0) return {};
  const std::size_t G = k_width / sizes_.D;
  if (G == 0 || G >= sizes_.H || sizes_.H % G != 0) return {};
  return std::to_string(k_width) + " would be " + std::to_string(G) + " key/value heads of width " +
         std::to_string(sizes_.D) + ": --kv-heads " + std::to_string(G);
}

void SizeFinder::bias(const MaybeArray& named, const std::string& symbol, std::size_t width,
                      const MaybeArray& weight) {
  if (!named) return;
  if (shape_of(named) == Shape{width}) return;
  complain("bias does not fit its weight", named->where + ", " + symbol,
           "(" + std::to_string(width) + ") as in " + origin(weight), shape_text(shape_of(named)));
}

}  // namespace qkv

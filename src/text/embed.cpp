// Embed: from ids to X, a padded batch.
#include "qkv/text/embed.hpp"

#include <algorithm>

#include "qkv/base/error.hpp"
#include "qkv/base/text.hpp"
#include "qkv/tensor/random.hpp"

namespace qkv {

namespace {

/// All sentences at one length: value_of(id) for a token, and `behind` where the sentence has
/// ended.
template <class Element, class Fill>
Array padded(const Ids& ids, DType dtype, Element behind, Fill&& value_of) {
  const std::size_t L = padded_length(ids);
  auto memory = allocate_bytes(ids.size() * L * sizeof(Element));
  auto* elements = reinterpret_cast<Element*>(memory.get());
  std::fill_n(elements, ids.size() * L, behind);
  for (std::size_t b = 0; b < ids.size(); ++b)
    std::ranges::transform(ids[b], elements + b * L, value_of);
  return row_major_array(dtype, {ids.size(), L}, memory.get(), memory);
}

}  // namespace

std::size_t padded_length(const Ids& ids) {
  std::size_t longest = 0;
  for (const auto& row : ids) longest = std::max(longest, row.size());
  return longest;
}

Tensor<float, 2> random_table(std::size_t V, std::size_t E, std::uint64_t seed) {
  auto table = Tensor<float, 2>::make({V, E});
  Random random(seed, "embedding");
  for (float& element : table.elements()) element = static_cast<float>(random.normal());
  return table;
}

template <class T>
Tensor<T, 3> embed(const Ids& ids, const Tensor<T, 2>& table, const Tensor<double, 2>& positions) {
  const std::size_t E = table.size(1);
  auto x = Tensor<T, 3>::make({ids.size(), padded_length(ids), E});
  for (std::size_t b = 0; b < ids.size(); ++b) {
    for (std::size_t l = 0; l < ids[b].size(); ++l) {
      const std::span<const T> token = table.row(ids[b][l]);
      const std::span<T> row = x.row(b, l);
      for (std::size_t e = 0; e < E; ++e) {
        const double position = positions.empty() ? 0 : positions(l, e);
        row[e] = static_cast<T>(static_cast<double>(token[e]) + position);
      }
    }
  }
  return x;
}

template Tensor<float, 3> embed(const Ids&, const Tensor<float, 2>&, const Tensor<double, 2>&);
template Tensor<double, 3> embed(const Ids&, const Tensor<double, 2>&, const Tensor<double, 2>&);

void require_rows(const Ids& ids, std::span<const Sentence> sentences, std::size_t V,
                  const std::string& where) {
  for (std::size_t b = 0; b < ids.size(); ++b) {
    for (std::size_t l = 0; l < ids[b].size(); ++l) {
      if (ids[b][l] < V) continue;
      throw Error(Complaint{.what = "an id beyond the embedding table",
                            .where = where + ", axis 0, V",
                            .expected = "more than " + std::to_string(ids[b][l]) +
                                        " rows, the id of " + escaped(sentences[b][l]),
                            .got = std::to_string(V)});
    }
  }
}

Array key_padding(const Ids& ids) {
  return padded<std::uint8_t>(ids, DType::boolean, 0, [](std::size_t) { return std::uint8_t{1}; });
}

Array padded_ids(const Ids& ids) {
  return padded<std::int64_t>(ids, DType::int64, -1,
                              [](std::size_t id) { return static_cast<std::int64_t>(id); });
}

}  // namespace qkv

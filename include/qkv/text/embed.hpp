// Embed: from ids to X, a padded batch.
#pragma once

#include <cstdint>
#include <string>

#include "qkv/tensor/tensor.hpp"
#include "qkv/text/vocabulary.hpp"

namespace qkv {

/// The length of the longest sentence, which all are padded to.
std::size_t padded_length(const Ids& ids);

/// A table for V tokens, its elements from N(0,1) as those of torch.nn.Embedding: the same for the
/// same seed on every machine. Row `id` depends on the seed, E and the id alone.
///
/// shape   (V,E)
Tensor<float, 2> random_table(std::size_t V, std::size_t E, std::uint64_t seed);

/// x[b,l,:] = table[ids[b,l],:] + positions[l,:], and 0 behind the end of sentence b
///
/// shape   table (V,E), positions (L,E) or more rows, or empty for none -> x (B,L,E)
/// range   the sum is made in double and rounded once
/// needs   every id < V
template <class T>
Tensor<T, 3> embed(const Ids& ids, const Tensor<T, 2>& table, const Tensor<double, 2>& positions);

/// throws  Error naming the first token whose id is beyond the V rows of the table `where`
void require_rows(const Ids& ids, std::span<const Sentence> sentences, std::size_t V,
                  const std::string& where);

/// (B,L) bool, true where a token is real.
Array key_padding(const Ids& ids);

/// (B,L) int64, -1 behind the end of a sentence.
Array padded_ids(const Ids& ids);

}  // namespace qkv

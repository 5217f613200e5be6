// Labels: the words beside the rows and columns of a matrix, from a file of tokens.
#pragma once

#include <string>
#include <vector>

#include "qkv/report/heat.hpp"

namespace qkv::cli {

/// Tokens from a file: a line each, or the member "tokens" of a JSON object, which is a list of
/// texts, or a list of such lists, one for each row of a batch.
struct Tokens {
  std::string file;                             ///< as the user wrote it, "-" for standard input
  std::vector<std::vector<std::string>> batch;  ///< one at least, all as long as the longest
};

/// edge    a line may end in CR LF; a last line without an end counts, an empty one at the end does
///         not
/// throws  Error: the file cannot be read, or is a JSON object without such a list
Tokens read_tokens(const std::string& file, const std::string& flag);

struct LabelOptions {
  std::string both, rows, columns;  ///< --labels, --row-labels, --column-labels; "" for none
  bool any() const { return !both.empty() || !rows.empty() || !columns.empty(); }
};

/// Labels for the matrices of a tensor. Those of --labels belong to every axis that has as many.
///
/// throws  Error: labels that fit neither axis, or not the one they are for; lists for several
///         rows of a batch where the tensor has no batch axis of as many
HeatLabels labels_for(const Matrices& matrices, const LabelOptions& options);

}  // namespace qkv::cli

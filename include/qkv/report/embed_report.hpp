// Embed report: tokens, ids and X, as plain data; report/embed_<form>.cpp renders it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "qkv/report/report.hpp"
#include "qkv/tensor/array.hpp"

namespace qkv {

struct EmbedReport {
  std::vector<std::vector<std::string>> tokens;  ///< a list for each text
  std::vector<std::vector<std::size_t>> ids;     ///< of the same lengths
  bool batch = false;  ///< several texts: lists of lists, and x has a B axis
  std::size_t vocab_size = 0;
  Array x = {};             ///< (L,E) or (B,L,E)
  bool with_values = true;  ///< x is printed, not only its shape
};

/// A row a token, then x as NumPy prints it.
std::string embed_text(const EmbedReport& report, const TextStyle& style);

/// Schema qkv.embed/1. Texts of a batch keep their own lengths: "tokens" and "ids" are not padded.
std::string embed_json(const EmbedReport& report);

}  // namespace qkv

// Generate report: the tokens that a model put behind a prompt, as plain data;
// report/generate_<form>.cpp renders it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "qkv/report/report.hpp"

namespace qkv {

struct GeneratedToken {
  double logit = 0;  ///< the greatest of its step
  double p = 0;      ///< its share in the softmax of all logits
};

struct GenerateReport {
  std::vector<std::size_t> ids = {};           ///< of the prompt, then of what was generated
  std::vector<std::string> tokens = {};        ///< their names; none without a vocabulary
  std::optional<std::string> text = {};        ///< the tokens as a text
  std::vector<GeneratedToken> generated = {};  ///< the last of the ids, one each
  bool stopped = false;                        ///< the last one ends the text
};

/// The text, or the ids where there is no vocabulary. Control characters but tabs and line ends,
/// and bytes that are no UTF-8, become \xNN.
std::string generate_text(const GenerateReport& report);

/// Schema qkv.generate/1; "text" and "tokens" are null without a vocabulary.
std::string generate_json(const GenerateReport& report);

}  // namespace qkv

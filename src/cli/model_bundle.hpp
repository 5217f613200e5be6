// Model bundle: a folder with a whole language model: embedding, layers, last norm, head,
// vocabulary.
#pragma once

#include <optional>
#include <string>

#include "cli/block_request.hpp"
#include "cli/common_options.hpp"
#include "qkv/model/language_model.hpp"
#include "qkv/text/vocabulary.hpp"

namespace qkv::cli {

struct ModelBundle {
  CommonOptions options = {};  ///< the flags, and what config.json adds to them
  Request request = {};
  LanguageModelInputs inputs = {};
  std::optional<NamedArray> position = {};  ///< a learned table, (N,E)
  std::optional<Vocabulary> vocabulary = {};
  std::string vocabulary_file = {};
};

/// Defines what a model takes beside its folder: settings of attention, of the blocks and of texts.
void add_model_options(CLI::App& app, CommonOptions& options);

/// Reads config.json, opens every tensor and reads the vocabulary, where there is one.
///
/// throws  Error naming everything that is missing, wrong or of no use here
ModelBundle read_model_bundle(const std::string& folder, CommonOptions options);

}  // namespace qkv::cli

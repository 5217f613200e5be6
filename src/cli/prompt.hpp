// Prompt: from --prompt or --tokens to ids, and from ids back to a text.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cli/model_bundle.hpp"

namespace qkv::cli {

/// The id of a token that an option names, for --bos and --stop.
/// throws  Error: there is no vocabulary, or it has no such token
std::optional<std::size_t> id_of_option(const ModelBundle& model, const std::string& name);

/// Ids of --tokens or of --prompt, behind --bos.
///
/// throws  Error: both or nothing, unknown words, ids beyond the embedding
std::vector<std::size_t> prompt_ids(const ModelBundle& model);

/// Tokens as a text: words with blanks between, characters or pieces one behind the other.
std::string text_of(const ModelBundle& model, const std::vector<std::size_t>& ids);

}  // namespace qkv::cli

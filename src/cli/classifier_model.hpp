// Classifier model: the parts of a bundle that classify needs beside the weights of attention.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/common_options.hpp"

namespace qkv::cli {

/// --table, --fc-w, --fc-b and --labels.
std::span<const OptionRow> model_option_list();

/// Adds what the folder of --weights holds, where no flag says otherwise: weights, config.json,
/// embedding.npy, position.npy, fc_w.npy, fc_b.npy, vocab.txt, labels.txt.
///
/// throws  Error: no such folder or file, or a config.json that is none
void add_model(CommonOptions& options);

/// throws  Error naming every part of the model that is missing
void require_model(const CommonOptions& options, bool with_text);

/// The names of the C classes; their numbers, and a note, where there are no labels.
///
/// throws  Error naming the file: no UTF-8, not as many as C, an empty label or one that is there
/// twice
std::vector<std::string> read_labels(const CommonOptions& options, const NamedArray& fc_w,
                                     std::size_t C, std::vector<std::string>& notes);

}  // namespace qkv::cli

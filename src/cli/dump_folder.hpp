// Dump folder: what trace --dump has written, read back as a page.
#pragma once

#include <string>

#include "cli/labels.hpp"
#include "qkv/report/page.hpp"

namespace qkv::cli {

/// Reads trace.json and every stage that it names. Weights of exactly 0 where masked is -Inf are
/// hidden; with `options.hide_zeros`, all zeros of attn and dropped are.
///
/// labels  --labels for every axis L or S that has as many, --row-labels for L, --column-labels for
///         S; with tokens of several texts, one for each batch row
/// throws  Error: no trace.json, one that trace did not write, a stage that is missing or has
///         another shape, labels that fit no axis
Page read_dump(const std::string& folder, const HeatOptions& options, const LabelOptions& labels);

}  // namespace qkv::cli

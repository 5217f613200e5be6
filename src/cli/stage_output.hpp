// Stages out: which are printed and how, and the folder that --dump writes.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "qkv/report/report.hpp"

namespace qkv::cli {

/// The stages that --print names; `known` are those that some configuration has.
/// throws  Error naming the first that is not among `present`
std::set<std::string> stages_to_print(const std::string& words,
                                      const std::vector<std::string>& present,
                                      const std::vector<std::string>& known);

/// --precision and --threshold, "" where not given.
/// throws  Error naming the one that is no whole number
PrintOptions print_options(const std::string& precision, const std::string& threshold);

/// The values of the stages that are wanted, as NumPy prints them.
std::string stage_values(const TraceReport& report, const std::set<std::string>& wanted,
                         const PrintOptions& print_as);

/// Where --dump puts a stage: attn in FOLDER/attn.npy, 0.attn, of the first of several layers, in
/// FOLDER/0/attn.npy.
std::string dump_path(const std::string& folder, const std::string& id);

/// "attn" of "0.attn" and of "attn".
std::string without_layer(const std::string& id);

/// Writes every stage to its dump_path(), then the report beside them.
/// throws  Error where one of them is the file that an input was read from, or cannot be written
void dump_stages(const std::string& folder, const TraceReport& report,
                 const std::vector<std::string>& input_files);

}  // namespace qkv::cli

// Bundle: a folder with x.npy, wq.npy ... and a config.json that holds options.
#pragma once

#include <string>
#include <vector>

#include "cli/common_options.hpp"

namespace qkv::cli {

/// The tensors that a bundle may hold beside a command's own, as options are named; "x" is the
/// input.
const std::vector<std::string>& bundle_tensor_names();

/// The file of one of them in a folder: "DIR/key_padding.npy".
std::string bundle_file(const std::string& folder, std::string name);

/// Adds what the bundle holds to the options, where no flag says otherwise: tensors by their names,
/// options from config.json. File names in config.json are relative to the bundle.
///
/// throws  Error: config.json is no JSON object, or holds an unknown option
void add_bundle(std::string folder, CommonOptions& options);

/// "a.npz:k[0]" -> "a.npz": the file that a tensor argument names.
std::string split_file(const std::string& argument);

/// Adds the weights of a folder (wq.npy ... bo.npy, and those of its heads/0 ... H-1) where no flag
/// names them.
void add_weights_folder(std::string folder, CommonOptions& options);

/// The same, and the options of its config.json: a folder that holds a model without its inputs.
/// throws  Error as add_bundle does
void add_model_folder(std::string folder, CommonOptions& options);

}  // namespace qkv::cli

// The inputs and conventions that every computing command takes, from flags, a bundle folder and a
// weights file.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/option_list.hpp"
#include "qkv/attention/head_weights.hpp"
#include "qkv/attention/inputs.hpp"
#include "qkv/attention/presets.hpp"
#include "qkv/attention/settings.hpp"

namespace CLI {
class App;
}

namespace qkv::cli {

/// The words as they were given, by the long name of their option ("input" is the positional X or
/// DIR).
struct CommonOptions {
  std::map<std::string, std::string> values = {};
  std::map<std::string, std::string> where = {};  ///< "--heads", or "heads in demo/config.json"
  const CLI::App* app = nullptr;                  ///< knows the order in which they were given
  std::vector<std::string> further_tensors = {};  ///< options of one command that name a tensor
  std::vector<OptionRow> further_rows = {};       ///< what its config.json may hold besides
  std::vector<std::string> further_weights = {};  ///< of these, the ones that bundles may hold too
  std::vector<std::string> further_settings =
      {};  ///< options of one command that config.json knows
  /// Files of the bundle's heads/0 ... H-1 by role, "wq": one for each head.
  std::map<std::string, std::vector<std::string>> head_files = {};
  std::string heads_folder = {};  ///< "demo/heads", where there are such files
  std::size_t head_count = 0;

  bool has(const std::string& name) const { return values.contains(name); }
  const std::string& at(const std::string& name) const { return values.at(name); }
  std::string place(const std::string& name) const {
    const auto found = where.find(name);
    return found == where.end() ? "--" + name : found->second;
  }
};

void add_common_options(CLI::App& app, CommonOptions& options);

/// Only the options of these names, without X.
void add_some_options(CLI::App& app, CommonOptions& options,
                      std::span<const std::string_view> names);

/// Options that only some commands have, which their config.json may hold too. They do not come to
/// read_request().
void add_further_options(CLI::App& app, CommonOptions& options, std::span<const OptionRow> rows);

/// A tensor option that only one command has; it is read with the others, so that the n-th "-" of
/// the command line is the n-th array of the stream.
void add_tensor_option(CLI::App& app, CommonOptions& options, const std::string& name,
                       const std::string& value, const std::string& help);

/// The same for a weight that only one command has: bundles, folders of weights and checkpoints may
/// hold it too.
void add_weight_option(CLI::App& app, CommonOptions& options, const std::string& name,
                       const std::string& value, const std::string& help);

/// A setting that only one command has; a bundle's config.json may hold it too. Its words are left
/// in Request::further_settings.
void add_setting_option(CLI::App& app, CommonOptions& options, const std::string& name,
                        const std::string& value, const std::string& help,
                        const std::string& group);

/// f16 and bf16: in elements of float, rounded as Settings::arithmetic says.
enum class Compute { f32, f64, f16, bf16 };
std::string_view name(Compute compute);

/// Bytes of one element of a stage as --compute says: 4, 8 or 2.
std::size_t element_size(Compute compute);

/// The words of an option, and where they stood.
struct GivenWords {
  std::string text = {};
  std::string place = {};  ///< "--norm", or "norm in demo/config.json"
};

/// Everything a computing command starts from.
struct Request {
  Inputs inputs = {};
  HeadWeights heads = {};  ///< already part of the inputs, unless these have no x yet
  Settings settings = {};
  Compute compute = Compute::f32;
  std::string compute_place = {};  ///< "--compute", or "compute in demo/config.json"
  std::size_t threads = 1;
  double memory_limit = 0;  ///< bytes
  bool memory_limit_given = false;
  std::map<std::string, NamedArray> further_tensors = {};   ///< by the name of their option
  std::map<std::string, GivenWords> further_settings = {};  ///< by the name of their option
  std::vector<std::string> notes = {};
  std::vector<std::string> input_files =
      {};  ///< paths that were read, so that no output lands on one by accident
};

/// Reads the bundle's config.json, opens every tensor (without touching its elements) and settles
/// the preset.
///
/// throws  Error naming every flag and file that is wrong
Request read_request(CommonOptions options);

/// Makes the heads' own weights part of the inputs, once there is an x whose width tells how they
/// are stored. Does nothing where there are none.
void join_heads(Request& request);

/// throws  Error where a command that computes in float32 and float64 only was asked for another;
///         `what` it has none of: "no gradients in half precision"
void require_full_precision(const Request& request, const std::string& what,
                            const std::string& hint = "");

/// Bytes that one process may take: 80 % of what is free now.
double default_memory_limit();

}  // namespace qkv::cli

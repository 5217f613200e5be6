// What -w names: a folder of weights, or a file of them, among the options.
#include "cli/take_weights.hpp"

#include <algorithm>
#include <filesystem>
#include <initializer_list>

#include "cli/bundle.hpp"
#include "cli/weight_names.hpp"
#include "qkv/io/read.hpp"

namespace qkv::cli {

namespace fs = std::filesystem;

namespace {

class Taker {
 public:
  Taker(const CommonOptions& flags, CommonOptions& options) : flags_(flags), options_(options) {}

  TakenWeights take() {
    const std::string weights = options_.at("weights");
    const bool projected = options_.has("q") || options_.has("k") || options_.has("v");
    CommonOptions found = flags_;
    if (fs::is_directory(weights)) {
      // Of projected queries only the output weight is left to look for.
      CommonOptions looking = found;
      if (projected) looking.values["q"] = "-";
      add_weights_folder(weights, looking);
      if (projected && !found.has("q")) looking.values.erase("q");
      found = std::move(looking);
    } else {
      find_in_file(weights, projected, found);
    }
    if (flags_.has("weights")) drop_bundle_weights(found);
    for (const auto& [role, argument] : found.values) {
      if (!flags_.has(role) && !options_.has(role)) options_.values[role] = argument;
    }
    if (options_.head_count == 0 && found.head_count > 0) {
      options_.head_files = found.head_files;
      options_.heads_folder = found.heads_folder;
      options_.head_count = found.head_count;
      if (!options_.where.contains("heads") && !flags_.has("heads"))
        options_.where["heads"] = found.heads_folder;
    }
    return taken_;
  }

 private:
  void find_in_file(const std::string& weights, bool projected, CommonOptions& found) {
    const std::string prefix = options_.has("weights-prefix") ? options_.at("weights-prefix") : "";
    // Where config.json names the file, the bundle's own weights win.
    const CommonOptions& given = found.has("weights") ? found : options_;
    for (const WeightName& weight : find_weights(tensor_names(weights), prefix, weights, scope())) {
      const bool output = weight.role == "wo" || weight.role == "bo";
      if (given.has(weight.role) || (projected && !output)) continue;
      found.values[weight.role] = weight.name.empty() ? weights : weights + ":" + weight.name;
      if (weight.out_in) taken_.out_in.push_back(weight.role);
      if (weight.order && !options_.has("qkv-order")) taken_.order = weight.order;
    }
  }

  /// Projections of one origin belong together, with their biases: of the bundle's, none is mixed
  /// with those of -w. So do an output weight and its bias.
  void drop_bundle_weights(const CommonOptions& found) {
    const auto brings = [&](std::initializer_list<const char*> roles) {
      return std::ranges::any_of(
          roles, [&](const char* role) { return found.has(role) && !flags_.has(role); });
    };
    const auto drop = [&](const std::string& role) {
      if (flags_.has(role)) return;
      options_.values.erase(role);
      options_.where.erase(role);
    };
    if (brings({"wq", "wk", "wv", "wqkv"}) || found.head_count > 0) {
      for (const char* role : {"wq", "wk", "wv", "wqkv", "bq", "bk", "bv", "bqkv"}) drop(role);
      if (options_.head_count > 0 && options_.place("heads") == options_.heads_folder)
        drop("heads");
      options_.head_files.clear();
      options_.head_count = 0;
    }
    if (brings({"wo"})) {
      drop("wo");
      drop("bo");
    }
    for (const auto& [role, argument] : found.values) {
      if (role != "heads") drop(role);
    }
  }

  WeightScope scope() const {
    return options_.further_weights.empty() ? WeightScope::attention : WeightScope::block;
  }

  const CommonOptions& flags_;
  CommonOptions& options_;
  TakenWeights taken_;
};

}  // namespace

TakenWeights take_weights(const CommonOptions& flags, CommonOptions& options) {
  return Taker(flags, options).take();
}

}  // namespace qkv::cli

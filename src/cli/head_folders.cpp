// Head folders: heads/0 ... H-1 of a bundle, each with projections of its own.
#include "cli/head_folders.hpp"

#include <algorithm>
#include <filesystem>

#include "cli/numbered_folders.hpp"
#include "qkv/base/error.hpp"
#include "qkv/base/text.hpp"

namespace qkv::cli {

namespace fs = std::filesystem;

namespace {

constexpr const char* weights[] = {"wq", "wk", "wv"};
constexpr const char* biases[] = {"bq", "bk", "bv"};

std::string file_of(const std::string& folder, const std::string& role) {
  return (fs::path(folder) / (role + ".npy")).string();
}

/// Weights of all heads at once, and weights of each: which of them is meant?
void require_no_joint(const std::string& heads, const CommonOptions& given,
                      const CommonOptions& options) {
  Complaints complaints;
  for (const char* role : {"wq", "wk", "wv", "bq", "bk", "bv", "wqkv", "bqkv"}) {
    if (!options.has(role) || given.has(role)) continue;
    complaints.add({.what = "a weight of all heads beside each head's own",
                    .where = escaped(options.at(role)),
                    .expected = "it, or the folders in " + escaped(heads),
                    .got = "both"});
  }
  complaints.throw_if_any();
}

/// What is the same for all heads stands beside the folder heads.
void require_no_shared(const std::string& head, Complaints& complaints) {
  for (const char* role : {"wo", "bo", "wqkv", "bqkv", "q_norm", "k_norm", "sinks"}) {
    const std::string file = file_of(head, role);
    if (!fs::exists(file)) continue;
    complaints.add({.what = "not a weight of one head",
                    .where = escaped(file),
                    .expected = "wq, wk, wv, bq, bk and bv; what all heads share stands beside "
                                "the folder heads",
                    .got = role});
  }
  const std::string config = (fs::path(head) / "config.json").string();
  if (!fs::exists(config)) return;
  complaints.add({.what = "a config of one head",
                  .where = escaped(config),
                  .expected = "one config.json beside the folder heads, for all of them",
                  .got = "one in the head's folder"});
}

}  // namespace

void add_heads(const std::string& folder, const CommonOptions& given, CommonOptions& options) {
  const std::string heads = (fs::path(folder) / "heads").string();
  // q, k and v are projected already, and a fused weight has all heads in it.
  const bool needed = !given.has("q") && !given.has("k") && !given.has("v") && !given.has("wqkv");
  if (!fs::is_directory(heads) || !needed || !given.head_files.empty()) return;
  require_no_joint(heads, given, options);
  const std::vector<std::string> folders =
      numbered_folders(heads, "heads", "wq.npy, wk.npy and wv.npy each");

  Complaints complaints;
  for (const char* role : weights) {
    for (const std::string& head : folders) {
      const std::string file = file_of(head, role);
      if (!given.has(role)) options.head_files[role].push_back(file);
      if (given.has(role) || fs::exists(file)) continue;
      complaints.add({.what = "a head lacks a weight",
                      .where = escaped(file),
                      .expected = "wq.npy, wk.npy and wv.npy in each head's folder",
                      .got = "no such file"});
    }
  }
  for (const char* role : biases) {
    const auto with = std::ranges::find_if(
        folders, [&](const std::string& head) { return fs::exists(file_of(head, role)); });
    if (given.has(role) || with == folders.end()) continue;
    for (const std::string& head : folders) {
      const std::string file = file_of(head, role);
      options.head_files[role].push_back(file);
      if (fs::exists(file)) continue;
      complaints.add({.what = "a head lacks a bias",
                      .where = escaped(file),
                      .expected = "one in each head's folder as " + escaped(file_of(*with, role)) +
                                  ", or in none",
                      .got = "no such file"});
    }
  }
  for (const std::string& head : folders) require_no_shared(head, complaints);
  complaints.throw_if_any();
  options.heads_folder = escaped(heads);
  options.head_count = folders.size();
  if (options.has("heads")) return;
  options.values["heads"] = std::to_string(folders.size());
  options.where["heads"] = options.heads_folder;
}

}  // namespace qkv::cli

// Classifier model: the parts of a bundle that classify needs beside the weights of attention.
#include "cli/classifier_model.hpp"

#include <filesystem>
#include <set>
#include <utility>

#include "cli/bundle.hpp"
#include "qkv/base/error.hpp"
#include "qkv/base/text.hpp"
#include "qkv/io/read.hpp"
#include "qkv/text/split.hpp"

namespace qkv::cli {

namespace fs = std::filesystem;

namespace {

constexpr OptionRow model_rows[] = {
    {"table", "T", "Embedding table (V,E), in place of the bundle's embedding.npy",
     OptionKind::tensor, "Model"},
    {"fc-w", "W", "Weight of the last linear map, (E,C) or (C,E), in place of fc_w.npy",
     OptionKind::tensor, "Model"},
    {"fc-b", "b", "Its bias, (C), in place of fc_b.npy", OptionKind::tensor, "Model"},
    {"labels", "FILE", "The classes, a label a line, in place of labels.txt", OptionKind::path,
     "Model"},
};

/// The file of a bundle that an option stands in for.
constexpr std::pair<const char*, const char*> bundle_files[] = {
    {"table", "embedding.npy"}, {"pos-encoding", "position.npy"},
    {"vocab", "vocab.txt"},     {"fc-w", "fc_w.npy"},
    {"fc-b", "fc_b.npy"},       {"labels", "labels.txt"}};

}  // namespace

std::span<const OptionRow> model_option_list() { return model_rows; }

void add_model(CommonOptions& options) {
  if (!options.has("weights")) return;
  if (!fs::is_directory(options.at("weights"))) {
    open_bytes(
        options.at("weights"));  // a name that is none is all that would be said of the parts
    return;
  }
  const fs::path folder = options.at("weights");
  add_model_folder(folder.string(), options);
  for (const auto& [name, file] : bundle_files) {
    if (!options.has(name) && fs::exists(folder / file))
      options.values[name] = (folder / file).string();
  }
}

void require_model(const CommonOptions& options, bool with_text) {
  Complaints complaints;
  const bool folder = options.has("weights") && fs::is_directory(options.at("weights"));
  const auto require = [&](const char* name, const char* what, const char* file) {
    if (options.has(name)) return;
    complaints.add({.what = what,
                    .where = folder ? escaped((fs::path(options.at("weights")) / file).string())
                                    : "--" + std::string(name),
                    .expected = folder ? "that file, or --" + std::string(name)
                                       : std::string(file) + " in -w DIR, or the option",
                    .got = "neither"});
  };
  if (with_text) {
    require("table", "no embedding table", "embedding.npy");
    require("vocab", "no vocabulary", "vocab.txt");
  }
  // A file of weights is looked through later.
  if (!options.has("wqkv") && options.head_count == 0 && (folder || !options.has("weights"))) {
    require("wq", "no query weight", "wq.npy");
    require("wk", "no key weight", "wk.npy");
    require("wv", "no value weight", "wv.npy");
  }
  require("fc-w", "no weight for the classes", "fc_w.npy");
  complaints.throw_if_any();
}

std::vector<std::string> read_labels(const CommonOptions& options, const NamedArray& fc_w,
                                     std::size_t C, std::vector<std::string>& notes) {
  std::vector<std::string> labels;
  if (!options.has("labels")) {
    notes.emplace_back("no labels: the classes are called by their numbers");
    for (std::size_t c = 0; c < C; ++c) labels.push_back(std::to_string(c));
    return labels;
  }
  const std::string& file = options.at("labels");
  const std::string where = file == "-" ? "stdin, --labels" : escaped(file, 4096);
  const Bytes bytes = open_bytes(file == "-" ? "/dev/stdin" : file);
  labels = lines_of({reinterpret_cast<const char*>(bytes.data), bytes.size}, where);
  if (labels.size() != C) {
    throw Error(Complaint{.what = "labels do not fit",
                          .where = where,
                          .expected = std::to_string(C) + ", C as in " + fc_w.where + " " +
                                      shape_text(fc_w.array.shape),
                          .got = std::to_string(labels.size())});
  }
  std::set<std::string> seen;
  for (std::size_t c = 0; c < C; ++c) {
    if (!labels[c].empty() && seen.insert(labels[c]).second) continue;
    throw Error(
        Complaint{.what = "labels that cannot be told apart",
                  .where = where + ", line " + std::to_string(c + 1),
                  .expected = "another label on each line",
                  .got = labels[c].empty() ? "an empty line" : escaped(labels[c]) + " again"});
  }
  return labels;
}

}  // namespace qkv::cli

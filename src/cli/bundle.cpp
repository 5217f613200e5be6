// Bundle: a folder with x.npy, wq.npy ... and a config.json that holds options.
#include "cli/bundle.hpp"

#include <algorithm>
#include <filesystem>
#include <initializer_list>

#include "cli/head_folders.hpp"
#include "cli/option_list.hpp"
#include "qkv/base/error.hpp"
#include "qkv/base/json.hpp"
#include "qkv/base/text.hpp"
#include "qkv/io/read.hpp"

namespace qkv::cli {

namespace fs = std::filesystem;

namespace {

/// The file x.npy is called "x" in bundles and "--key-padding" is the file key_padding.npy.
/// Options that say the same thing in two ways: a flag for one of them silences the bundle's other.
bool overruled(const std::string& key, const CommonOptions& flags) {
  const auto one_of = [&](std::initializer_list<const char*> names) {
    return std::ranges::any_of(names, [&](const char* name) { return flags.has(name); });
  };
  const auto among = [&](std::initializer_list<const char*> names) {
    return std::ranges::any_of(names, [&](const char* name) { return key == name; });
  };
  if (among({"scale", "temperature"})) return one_of({"scale", "temperature"});
  if (among({"q", "k", "v"})) return one_of({"context"});
  if (among({"x", "context"})) return one_of({"q", "k", "v"});
  if (among({"wqkv", "bqkv"})) return one_of({"q", "k", "v", "wq", "wk", "wv"});
  if (among({"wq", "wk", "wv", "bq", "bk", "bv"})) return one_of({"q", "k", "v", "wqkv"});
  return false;
}

std::string config_value(const Json& value, const std::string& where) {
  switch (value.kind()) {
    case Json::Kind::text:
      return value.text();
    case Json::Kind::number:
      return number_text(value.number());
    case Json::Kind::boolean:
      return value.flag() ? "true" : "false";
    case Json::Kind::array: {
      std::string joined;
      for (const Json& item : value.items())
        joined += (joined.empty() ? "" : ",") + config_value(item, where);
      return joined;
    }
    case Json::Kind::null:
    case Json::Kind::object:
      break;
  }
  throw Error(Complaint{.what = "option without a value",
                        .where = where,
                        .expected = "text, a number, true or false, or a list of numbers"});
}

/// What kind of option a key of config.json is; further_settings are text, further_weights tensors.
OptionKind find_kind(const std::string& key, const std::string& file,
                     const CommonOptions& options) {
  if (std::ranges::find(options.further_settings, key) != options.further_settings.end())
    return OptionKind::text;
  if (std::ranges::find(options.further_weights, key) != options.further_weights.end())
    return OptionKind::tensor;
  std::vector<std::string> names = options.further_settings;
  const std::span<const OptionRow> further = options.further_rows;
  for (const std::span<const OptionRow> rows : {option_list(), further}) {
    for (const OptionRow& row : rows) {
      if (row.key() == key) return row.kind;
      names.emplace_back(row.key());
    }
  }
  for (const char* of_block : {"norm", "norm-kind", "activation", "eps"}) {
    if (key != of_block) continue;
    throw Error(Complaint{.what = "a setting of qkv block",
                          .where = key + " in " + file,
                          .expected = "options of this command, which computes attention alone",
                          .got = "one of the norm and feed-forward around it",
                          .hint = "qkv block shows the attention of a block on what it works on"});
  }
  const std::string near = nearest(key, names);
  throw Error(Complaint{.what = "unknown option",
                        .where = escaped(key) + " in " + file,
                        .expected = "a long option such as \"heads\" or \"causal\"",
                        .hint = near.empty() ? "" : "did you mean \"" + near + "\"?"});
}

void add_config(const std::string& folder, const CommonOptions& flags, CommonOptions& options) {
  const std::string file = (fs::path(folder) / "config.json").string();
  if (!fs::exists(file)) return;
  const Bytes bytes = open_bytes(file);
  const Json config = Json::parse({reinterpret_cast<const char*>(bytes.data), bytes.size}, file);
  if (config.kind() != Json::Kind::object) {
    throw Error(Complaint{
        .what = "config is no JSON object", .where = file, .expected = "{\"heads\": 8, ...}"});
  }
  Complaints complaints;
  for (const auto& member : config.members()) {
    const Json& value = member.second;
    std::string key = member.first;
    std::ranges::replace(key, '_', '-');
    complaints.attempt([&] {
      const OptionKind kind = find_kind(key, file, options);
      if (flags.has(key) || overruled(key, flags)) return;
      const std::string where = key + " in " + file;
      std::string text = config_value(value, where);
      if (kind == OptionKind::flag) {
        if (text != "true" && text != "false") {
          throw Error(Complaint{.what = "not true or false",
                                .where = where,
                                .expected = "true or false",
                                .got = escaped(text)});
        }
        if (text == "false") return;
      }
      const bool file_name = kind == OptionKind::path ||
                             (kind == OptionKind::tensor && value.kind() == Json::Kind::text);
      if (file_name && text != "-" && fs::path(text).is_relative() &&
          fs::exists(fs::path(folder) / split_file(text))) {
        text = (fs::path(folder) / text).string();
      }
      options.values[key] = text;
      options.where[key] = where;
    });
  }
  complaints.throw_if_any();
}

void add_file(const std::string& folder, const std::string& key, const CommonOptions& flags,
              CommonOptions& options) {
  const std::string file = bundle_file(folder, key);
  const std::string name = key == "x" ? "input" : key;
  if (!fs::exists(file) || (key != "x" && flags.has(name)) || overruled(key, flags)) return;
  options.values[name] = file;
}

}  // namespace

const std::vector<std::string>& bundle_tensor_names() {
  static const std::vector<std::string> names = {
      "x",           "context", "q",        "k",      "v",      "wq",    "wk",     "wv",
      "wo",          "bq",      "bk",       "bv",     "bo",     "wqkv",  "bqkv",   "mask",
      "key-padding", "lengths", "position", "past-k", "past-v", "sinks", "q-norm", "k-norm"};
  return names;
}

std::string bundle_file(const std::string& folder, std::string name) {
  std::ranges::replace(name, '-', '_');
  return (fs::path(folder) / (name + ".npy")).string();
}

std::string split_file(const std::string& argument) {
  return argument.substr(0, std::min(argument.find('['), argument.rfind(':')));
}

void add_bundle(std::string folder, CommonOptions& options) {
  const CommonOptions flags = options;
  options.values.erase("input");
  for (const std::string& key : bundle_tensor_names()) add_file(folder, key, flags, options);
  for (const std::string& key : flags.further_weights) add_file(folder, key, flags, options);
  add_config(folder, flags, options);
  add_heads(folder, flags, options);
}

void add_weights_folder(std::string folder, CommonOptions& options) {
  const CommonOptions flags = options;
  for (const char* key : {"wq", "wk", "wv", "wo", "bq", "bk", "bv", "bo", "wqkv", "bqkv", "sinks",
                          "q-norm", "k-norm"})
    add_file(folder, key, flags, options);
  for (const std::string& key : flags.further_weights) add_file(folder, key, flags, options);
  add_heads(folder, flags, options);
}

void add_model_folder(std::string folder, CommonOptions& options) {
  const CommonOptions flags = options;
  add_weights_folder(folder, options);
  add_config(folder, flags, options);
}

}  // namespace qkv::cli

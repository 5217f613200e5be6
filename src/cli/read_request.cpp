// From words to inputs and settings: flags, bundle, weights file and preset.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>

#include "cli/bundle.hpp"
#include "cli/common_options.hpp"
#include "cli/numbers.hpp"
#include "cli/option_list.hpp"
#include "cli/read_settings.hpp"
#include "cli/take_weights.hpp"
#include "qkv/base/error.hpp"
#include "qkv/base/text.hpp"
#include "qkv/io/read.hpp"

namespace qkv::cli {

namespace fs = std::filesystem;

namespace {

Array integers(const std::vector<long long>& values) {
  auto memory = allocate_bytes(values.size() * sizeof(long long));
  std::copy(values.begin(), values.end(), reinterpret_cast<long long*>(memory.get()));
  return row_major_array(DType::int64, {values.size()}, memory.get(), memory);
}

class Reader {
 public:
  explicit Reader(CommonOptions options) : options_(std::move(options)) {}

  Request read() {
    read_streamed();
    Complaints complaints;
    complaints.attempt([&] { find_files(); });
    complaints.throw_if_any();
    read_inputs(complaints);
    read_settings(options_, request_, complaints);
    for (const std::string& name : options_.further_settings) {
      if (options_.has(name))
        request_.further_settings[name] = {options_.at(name), options_.place(name)};
    }
    if (complaints.empty()) complaints.attempt([&] { require_head_count(); });
    if (complaints.empty()) complaints.attempt([&] { read_preset(); });
    complaints.throw_if_any();
    if (request_.inputs.x) join_heads(request_);
    return std::move(request_);
  }

 private:
  /// The n-th "-" on the command line is the n-th array of the stream, in whatever order the
  /// options are used later.
  void read_streamed() {
    if (options_.app == nullptr) return;
    for (const CLI::Option* option : options_.app->parse_order()) {
      const std::string name =
          option->get_lnames().empty() ? "input" : option->get_lnames().front();
      if (!options_.has(name) || streamed_.contains(name)) continue;
      const std::string& argument = options_.at(name);
      if (argument == "-" || argument.starts_with("-["))
        streamed_[name] = read_tensor(argument, stdin_);
    }
  }

  void find_files() {
    const CommonOptions flags = options_;
    if (options_.has("input") && !streamed_.contains("input") &&
        fs::is_directory(options_.at("input"))) {
      const std::string folder = options_.at("input");
      add_bundle(folder, options_);
      const bool any =
          options_.has("input") || options_.has("q") || options_.has("k") || options_.has("v");
      if (!any) {
        throw Error(
            Complaint{.what = "bundle without an input",
                      .where = escaped(folder),
                      .expected = "x.npy, or q.npy, k.npy and v.npy",
                      .got = fs::is_empty(folder) ? "an empty folder" : "other files only"});
      }
    }
    if (!options_.has("weights")) {
      if (options_.has("weights-prefix")) {
        throw Error(Complaint{.what = "a prefix without a weights file",
                              .where = options_.place("weights-prefix"),
                              .expected = "-w FILE",
                              .got = "none"});
      }
      return;
    }
    const TakenWeights taken = take_weights(flags, options_);
    out_in_ = taken.out_in;
    if (taken.order) request_.settings.qkv_order = *taken.order;
  }

  // --- tensors
  // ----------------------------------------------------------------------------------------------------

  NamedArray tensor(const std::string& name) {
    const std::string& argument = options_.at(name);
    NamedArray named;
    named.where = argument == "-" ? "stdin, --" + name : escaped(argument);
    if (name == "input" && argument == "-") named.where = "stdin, X";
    const auto streamed = streamed_.find(name);
    if (streamed != streamed_.end()) {
      named.array = streamed->second;
    } else {
      named.array = read_tensor(argument, stdin_);
      request_.input_files.push_back(split_file(argument));
    }
    named.known_out_in = std::ranges::find(out_in_, name) != out_in_.end();
    return named;
  }

  void read_inputs(Complaints& complaints) {
    Inputs& inputs = request_.inputs;
    const std::pair<const char*, std::optional<NamedArray>*> roles[] = {
        {"input", &inputs.x},
        {"context", &inputs.context},
        {"q", &inputs.q},
        {"k", &inputs.k},
        {"v", &inputs.v},
        {"wq", &inputs.wq},
        {"wk", &inputs.wk},
        {"wv", &inputs.wv},
        {"wo", &inputs.wo},
        {"bq", &inputs.bq},
        {"bk", &inputs.bk},
        {"bv", &inputs.bv},
        {"bo", &inputs.bo},
        {"wqkv", &inputs.wqkv},
        {"bqkv", &inputs.bqkv},
        {"mask", &inputs.mask},
        {"key-padding", &inputs.key_padding},
        {"sinks", &inputs.sinks},
        {"q-norm", &inputs.q_norm},
        {"k-norm", &inputs.k_norm},
        {"past-k", &inputs.past_k},
        {"past-v", &inputs.past_v}};
    for (const auto& [name, role] : roles) {
      if (options_.has(name)) complaints.attempt([&, n = name, r = role] { *r = tensor(n); });
    }
    for (const std::string& name : options_.further_tensors) {
      if (!options_.has(name)) continue;
      complaints.attempt([&] { request_.further_tensors[name] = tensor(name); });
    }
    const std::pair<const char*, std::vector<NamedArray>*> roles_of_heads[] = {
        {"wq", &request_.heads.wq}, {"wk", &request_.heads.wk}, {"wv", &request_.heads.wv},
        {"bq", &request_.heads.bq}, {"bk", &request_.heads.bk}, {"bv", &request_.heads.bv}};
    for (const auto& [name, role] : roles_of_heads) {
      if (!options_.head_files.contains(name)) continue;
      for (const std::string& file : options_.head_files.at(name)) {
        complaints.attempt([&, r = role] {
          r->push_back({.array = read_tensor(file, stdin_), .where = escaped(file)});
        });
        request_.input_files.push_back(file);
      }
    }
    if (options_.has("lengths"))
      complaints.attempt([&] { inputs.lengths = numbers_or_tensor("lengths", 0); });
    if (options_.has("position")) complaints.attempt([&] { read_position(); });
  }

  /// "3,4" is a list, anything else a tensor argument.
  NamedArray numbers_or_tensor(const std::string& name, long long least) {
    const std::string& text = options_.at(name);
    const bool digits = text.find_first_not_of("0123456789,+-") == std::string::npos && text != "-";
    // "3,x" is a list with a slip in it, unless there is such a file.
    const bool list = text.find(',') != std::string::npos && text.find('[') == std::string::npos &&
                      !fs::exists(text);
    if (digits || list) {
      return {integers(parse_integers(text, options_.place(name), least)), options_.place(name)};
    }
    return tensor(name);
  }

  void read_position() {
    const NamedArray position =
        numbers_or_tensor("position", std::numeric_limits<long long>::min());
    const bool typed = position.where == options_.place("position");
    if (typed && position.array.shape == Shape{1}) {
      request_.settings.first_position = parse_integer(options_.at("position"), position.where,
                                                       std::numeric_limits<long long>::min());
    } else {
      request_.inputs.position = position;
    }
  }

  /// Each folder is a head, with keys and values of its own.
  void require_head_count() {
    if (options_.head_count == 0) return;
    const std::size_t count = options_.head_count;
    const Settings& settings = request_.settings;
    for (const auto& [name, heads] :
         {std::pair("heads", settings.heads), {"kv-heads", settings.kv_heads.value_or(count)}}) {
      if (heads == count) continue;
      throw Error(Complaint{.what = "heads differ from the bundle's",
                            .where = options_.place(name),
                            .expected = std::to_string(count) + ", as many as the folders in " +
                                        options_.heads_folder,
                            .got = std::to_string(heads)});
    }
  }

  void read_preset() {
    if (!options_.has("like")) return;
    const Given given{.mask_true = options_.has("mask-true"),
                      .padding_true = options_.has("padding-true"),
                      .causal_align = options_.has("causal-align"),
                      .fill = options_.has("fill"),
                      .empty_rows = options_.has("empty-rows")};
    Settings& s = request_.settings;
    s = with_preset(find_preset(options_.at("like")), s, request_.inputs, given);
  }

  CommonOptions options_;
  Request request_;
  TensorStream stdin_{STDIN_FILENO};
  std::map<std::string, Array> streamed_;
  std::vector<std::string> out_in_;  ///< roles whose tensor's name says out-in
};

}  // namespace

void join_heads(Request& request) {
  if (request.heads.any())
    request.inputs = with_joined_heads(request.heads, request.inputs, request.settings);
}

Request read_request(CommonOptions options) { return Reader(std::move(options)).read(); }

}  // namespace qkv::cli

// Stages out: which are printed and how, and the folder that --dump writes.
#include "cli/stage_output.hpp"

#include <algorithm>
#include <filesystem>

#include "cli/numbers.hpp"
#include "cli/outputs.hpp"
#include "qkv/base/error.hpp"
#include "qkv/base/text.hpp"
#include "qkv/io/write.hpp"

namespace qkv::cli {

namespace fs = std::filesystem;

std::string dump_path(const std::string& folder, const std::string& id) {
  const std::size_t dot = id.find('.');
  if (dot == std::string::npos) return (fs::path(folder) / (id + ".npy")).string();
  return (fs::path(folder) / id.substr(0, dot) / (id.substr(dot + 1) + ".npy")).string();
}

std::string without_layer(const std::string& id) { return id.substr(id.find('.') + 1); }

std::set<std::string> stages_to_print(const std::string& words,
                                      const std::vector<std::string>& present,
                                      const std::vector<std::string>& known) {
  if (words == "all") return {present.begin(), present.end()};
  std::set<std::string> wanted;
  for (std::size_t start = 0; !words.empty() && start <= words.size();) {
    const std::size_t comma = std::min(words.find(',', start), words.size());
    const std::string word = words.substr(start, comma - start);
    start = comma + 1;
    if (std::ranges::find(present, word) == present.end()) {
      const std::string near = nearest(word, present);
      const bool exists = std::ranges::find(known, word) != known.end();
      throw Error(
          Complaint{.what = exists ? "this configuration has no such stage" : "unknown stage",
                    .where = "--print",
                    .expected = "all, or some of " + listed(present),
                    .got = escaped(word),
                    .hint = near.empty() || exists ? "" : "did you mean " + near + "?"});
    }
    wanted.insert(word);
  }
  return wanted;
}

PrintOptions print_options(const std::string& precision, const std::string& threshold) {
  PrintOptions print;
  if (!precision.empty())
    print.precision = static_cast<int>(std::min(parse_integer(precision, "--precision", 0), 17LL));
  if (!threshold.empty())
    print.threshold = static_cast<std::size_t>(parse_integer(threshold, "--threshold", 0));
  return print;
}

std::string stage_values(const TraceReport& report, const std::set<std::string>& wanted,
                         const PrintOptions& print_as) {
  std::string text;
  for (const StageRow& stage : report.stages) {
    if (wanted.contains(stage.id))
      text += "\n" + stage.id + " " + shape_text(stage.shape) + "\n" +
              numpy_text(stage.values, print_as) + "\n";
  }
  return text;
}

void dump_stages(const std::string& folder, const TraceReport& report,
                 const std::vector<std::string>& input_files) {
  for (const StageRow& stage : report.stages)
    make_folder(fs::path(dump_path(folder, stage.id)).parent_path().string(), "--dump");
  for (const StageRow& stage : report.stages)
    require_no_input(dump_path(folder, stage.id), input_files, "--dump");
  for (const StageRow& stage : report.stages) write_npy(dump_path(folder, stage.id), stage.values);
  OutputFile file((fs::path(folder) / "trace.json").string());
  file.write(trace_json(report));
  file.commit();
}

}  // namespace qkv::cli

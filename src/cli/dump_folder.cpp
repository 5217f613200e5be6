// Dump folder: trace.json and the stages beside it.
#include "cli/dump_folder.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <span>

#include "cli/stage_output.hpp"
#include "qkv/attention/stage_list.hpp"
#include "qkv/base/error.hpp"
#include "qkv/base/json.hpp"
#include "qkv/base/text.hpp"
#include "qkv/block/stage_list.hpp"
#include "qkv/io/read.hpp"

namespace qkv::cli {

namespace {

/// trace.json, asked member by member; what is not as trace writes it is an error.
class Report {
 public:
  explicit Report(const std::string& folder) : where_(escaped(folder + "/trace.json", 4096)) {
    if (!std::filesystem::exists(folder + "/trace.json")) {
      throw Error(Complaint{.what = "no trace.json in the folder",
                            .where = escaped(folder, 4096),
                            .hint = "qkv trace --dump writes such a folder"});
    }
    const Bytes bytes = open_bytes(folder + "/trace.json");
    document_ = Json::parse({reinterpret_cast<const char*>(bytes.data), bytes.size}, where_);
    const Json* schema = document_.find("schema");
    if (schema == nullptr || schema->text() != "qkv.trace/1")
      refuse("\"schema\" to be qkv.trace/1", schema == nullptr ? "none" : escaped(schema->text()));
  }

  const Json& list(const std::string& key) const {
    return member(document_, key, Json::Kind::array);
  }
  const Json& config() const { return member(document_, "config", Json::Kind::object); }

  const Json& member(const Json& object, const std::string& key, Json::Kind kind) const {
    const Json* value = object.find(key);
    if (value == nullptr || value->kind() != kind) refuse("\"" + key + "\" as trace writes it", "");
    return *value;
  }
  std::string text(const Json& object, const std::string& key) const {
    return member(object, key, Json::Kind::text).text();
  }
  std::size_t count(const Json& object, const std::string& key) const {
    return whole(member(object, key, Json::Kind::number), key);
  }
  std::size_t whole(const Json& number, const std::string& key) const {
    constexpr double exact = 0x1p53;
    const double value = number.number();
    if (number.kind() != Json::Kind::number || !(value >= 0 && value <= exact) ||
        std::floor(value) != value)
      refuse("\"" + key + "\" as trace writes it", "");
    return static_cast<std::size_t>(value);
  }
  /// NaN for null: there was no finite value.
  double number(const Json& object, const std::string& key) const {
    const Json* value = object.find(key);
    if (value != nullptr && value->kind() == Json::Kind::null)
      return std::numeric_limits<double>::quiet_NaN();
    return member(object, key, Json::Kind::number).number();
  }

  [[noreturn]] void refuse(const std::string& expected, const std::string& got) const {
    throw Error(Complaint{
        .what = "not what trace --dump writes", .where = where_, .expected = expected, .got = got});
  }

 private:
  std::string where_;
  Json document_;
};

std::string value_text(const Json& value) {
  switch (value.kind()) {
    case Json::Kind::boolean:
      return value.flag() ? "true" : "false";
    case Json::Kind::number:
      return std::floor(value.number()) == value.number() ? number_text(value.number())
                                                          : short_number(value.number());
    case Json::Kind::text:
      return value.text();
    default:
      return "";
  }
}

StageRow stage_row(const Report& report, const Json& stage) {
  StageRow row;
  row.id = report.text(stage, "name");
  for (const Json& axis : report.member(stage, "shape", Json::Kind::array).items())
    row.shape.push_back(report.whole(axis, "shape"));
  for (const Json& dim : report.member(stage, "dims", Json::Kind::array).items())
    row.dims.push_back(dim.text());
  row.stats.min = report.number(stage, "min");
  row.stats.max = report.number(stage, "max");
  row.stats.mean = report.number(stage, "mean");
  row.stats.std = report.number(stage, "std");
  row.stats.nan = report.count(stage, "nan");
  row.stats.pos_inf = report.count(stage, "pos_inf");
  row.stats.neg_inf = report.count(stage, "neg_inf");
  const std::string name = without_layer(row.id);
  for (const StageInfo& info : stage_list()) {
    if (info.id == name) row.is = std::string(info.formula) + ": " + std::string(info.meaning);
  }
  for (const StageInfo& info : block_stage_list()) {
    if (info.id == name) row.is = std::string(info.formula) + ": " + std::string(info.meaning);
  }
  return row;
}

CheckResult check_result(const Report& report, const Json& check) {
  CheckResult result{.id = report.text(check, "id"),
                     .stage = report.text(check, "stage"),
                     .message = report.text(check, "message")};
  const Json* hint = check.find("hint");
  if (hint != nullptr) result.hint = hint->text();
  const std::string status = report.text(check, "status");
  for (const Status known : {Status::pass, Status::warn, Status::fail, Status::skip}) {
    if (status == name(known)) {
      result.status = known;
      return result;
    }
  }
  report.refuse("\"status\" as trace writes it", escaped(status));
}

Array stage_values(const std::string& folder, const StageRow& row, const Report& report) {
  // A name leads nowhere else.
  const std::string file = dump_path(folder, row.id);
  const std::filesystem::path name(row.id);
  if (name.is_absolute() || std::ranges::find(name, "..") != name.end() ||
      row.id.starts_with('.') || row.id.find("./") != std::string::npos)
    report.refuse("names of stages", escaped(row.id));
  TensorStream no_stream(-1);
  Array array = read_tensor(file, no_stream);
  require_shape(array.shape, row.shape, "shape differs from the report's", escaped(file, 4096),
                "as in trace.json");
  return array;
}

/// The weights with -Inf where they are exactly 0 and the logits are -Inf.
Array hidden_behind(const Array& weights, const Array& masked) {
  const std::size_t count = element_count(weights.shape);
  const auto memory = allocate_bytes(count * sizeof(double));
  auto* numbers = reinterpret_cast<double*>(memory.get());
  std::vector<double> logits(count);
  copy_elements(weights, numbers);
  copy_elements(masked, logits.data());
  constexpr double hidden = -std::numeric_limits<double>::infinity();
  for (std::size_t n = 0; n < count; ++n) {
    if (numbers[n] == 0 && logits[n] == hidden) numbers[n] = hidden;
  }
  return row_major_array(DType::float64, weights.shape, memory.get(), memory);
}

/// Tokens for an axis, by its symbol and size; remembers whether any axis fitted.
struct AxisTokens {
  Tokens tokens;
  std::string flag;
  std::vector<std::string> symbols;
  bool used = false;

  bool fit(const std::string& symbol, std::size_t size, std::size_t batch_rows) {
    const bool fits = std::ranges::find(symbols, symbol) != symbols.end() &&
                      tokens.batch[0].size() == size &&
                      (tokens.batch.size() == 1 || tokens.batch.size() == batch_rows);
    used = used || fits;
    return fits;
  }
};

void label(PageStage& stage, std::vector<AxisTokens>& all) {
  const std::size_t rank = stage.row.dims.size();
  if (rank < 2) return;
  for (AxisTokens& axis : all) {
    const bool rows = axis.fit(stage.row.dims[rank - 2], stage.map.matrix_rows, stage.batch_rows);
    const bool columns =
        axis.fit(stage.row.dims[rank - 1], stage.map.matrix_columns, stage.batch_rows);
    const std::size_t texts = axis.tokens.batch.size();
    if ((rows || columns) && stage.labels.size() < texts)
      stage.labels.resize(texts, stage.labels.empty() ? HeatLabels{} : stage.labels[0]);
    for (std::size_t b = 0; b < stage.labels.size(); ++b) {
      const auto& words = axis.tokens.batch[texts == 1 ? 0 : b];
      if (rows && stage.map.block_rows == 1) stage.labels[b].rows = words;
      if (columns && stage.map.block_columns == 1) stage.labels[b].columns = words;
    }
  }
}

std::vector<AxisTokens> axis_tokens(const LabelOptions& options) {
  std::vector<AxisTokens> all;
  const auto add = [&](const std::string& file, const std::string& flag,
                       const std::vector<std::string>& symbols) {
    if (!file.empty()) all.push_back({read_tokens(file, flag), flag, symbols});
  };
  add(options.both, "--labels", {"L", "S"});
  add(options.rows, "--row-labels", {"L"});
  add(options.columns, "--column-labels", {"S"});
  return all;
}

}  // namespace

Page read_dump(const std::string& folder, const HeatOptions& options, const LabelOptions& labels) {
  std::vector<AxisTokens> tokens = axis_tokens(labels);
  const Report report(folder);
  Page page{.title = folder};
  for (const auto& [key, value] : report.config().members())
    page.config.emplace_back(key, value_text(value));
  for (const Json& check : report.list("checks").items())
    page.checks.push_back(check_result(report, check));
  Array masked;
  for (const Json& item : report.list("stages").items()) {
    StageRow row = stage_row(report, item);
    Array array = stage_values(folder, row, report);
    row.dtype = array.dtype;
    const std::string name = without_layer(row.id);
    if (name == "masked") masked = array;
    const bool weights = name == "attn" || name == "dropped";
    if (weights && masked.shape == array.shape) array = hidden_behind(array, masked);
    HeatOptions own = options;
    own.hide_zeros = options.hide_zeros && weights;
    page.stages.push_back(page_stage(std::move(row), array, own));
    label(page.stages.back(), tokens);
  }
  for (const AxisTokens& axis : tokens) {
    if (axis.used) continue;
    throw Error(Complaint{.what = "labels do not fit",
                          .where = axis.flag + " " + escaped(axis.tokens.file, 4096),
                          .expected = "as many as an axis " + listed(axis.symbols, "or") +
                                      " of a stage in " + escaped(folder, 4096),
                          .got = std::to_string(axis.tokens.batch[0].size())});
  }
  return page;
}

}  // namespace qkv::cli

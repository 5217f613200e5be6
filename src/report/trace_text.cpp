// trace as text: headline, a row per stage, a line per check, the count of each verdict.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "qkv/base/text.hpp"
#include "qkv/report/report.hpp"
#include "report/head_text.hpp"
#include "report/style.hpp"
#include "report/table.hpp"

namespace qkv {

namespace {

std::string stage_table(const std::vector<StageRow>& stages, const TextStyle& style) {
  const bool infinities = std::any_of(stages.begin(), stages.end(), [](const StageRow& row) {
    return row.stats.pos_inf + row.stats.neg_inf > 0;
  });
  const StatsColumns stats(infinities);
  // Whole bytes can be checked by hand; beyond six digits nobody counts them.
  const bool large = std::any_of(stages.begin(), stages.end(),
                                 [](const StageRow& row) { return row.bytes >= 1e6; });
  std::vector<Table::Column> columns{
      {"stage"}, {"is"}, {"shape", Table::Align::right}, {"dims"}, {"dtype"}};
  stats.add_titles(columns);
  columns.push_back({large ? "size" : "bytes", Table::Align::right});

  Table table(columns);
  for (const StageRow& row : stages) {
    std::vector<std::string> cells{row.id, shown(row.is, style), shape_text(row.shape),
                                   fmt::format("{}", fmt::join(row.dims, ",")),
                                   std::string(name(row.dtype))};
    stats.add_cells(row.stats, cells);
    cells.push_back(large ? bytes_text(row.bytes) : fmt::format("{:.0f}", row.bytes));
    table.add(std::move(cells));
  }
  return table.text();
}

/// attn[0,3,7,:]: the stage and the worst index in it, ":" for axes that the check took as a whole.
std::string place(const CheckResult& check, const std::vector<StageRow>& stages) {
  const bool found = check.status == Status::warn || check.status == Status::fail;
  if (!found || check.at.empty()) return check.stage;
  std::string index = index_text(check.at);
  const auto row = std::find_if(stages.begin(), stages.end(),
                                [&](const StageRow& stage) { return stage.id == check.stage; });
  const std::size_t rank = row == stages.end() ? check.at.size() : row->shape.size();
  for (std::size_t axis = check.at.size(); axis < rank; ++axis)
    index.insert(index.size() - 1, ",:");
  return check.stage + index;
}

/// True where `message` has the number as a word of its own, in any of the ways that messages
/// write numbers.
bool mentions(const std::string& message, double number) {
  const auto part_of_number = [](char letter) {
    return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '.' || letter == '-';
  };
  for (const std::string& word : {short_number(number), number_text(number), bytes_text(number)}) {
    for (std::size_t at = message.find(word); at != std::string::npos;
         at = message.find(word, at + 1)) {
      const std::size_t end = at + word.size();
      if ((at == 0 || !part_of_number(message[at - 1])) &&
          (end == message.size() || !part_of_number(message[end])))
        return true;
    }
  }
  return false;
}

/// The message, followed by the value and the limit where it does not say them.
std::string finding(const CheckResult& check) {
  std::vector<std::string> rest;
  if (check.value && !mentions(check.message, *check.value))
    rest.push_back("value " + short_number(*check.value));
  if (check.limit && !mentions(check.message, *check.limit))
    rest.push_back("limit " + short_number(*check.limit));
  if (rest.empty()) return check.message;
  return fmt::format("{} ({})", check.message, fmt::join(rest, ", "));
}

std::string check_lines(const TraceReport& report, const TextStyle& style) {
  Table table({{}, {}, {}});
  for (const CheckResult& check : report.checks)
    table.add({check.id, shown(place(check, report.stages), style), shown(finding(check), style)});
  const std::vector<std::string> lines = table.lines();
  std::string text;
  for (std::size_t n = 0; n < report.checks.size(); ++n) {
    const CheckResult& check = report.checks[n];
    text += status_word(check.status, style) + "  " + lines[n] + '\n';
    if (!check.hint.empty() && check.status != Status::pass)
      text += "      hint: " + shown(check.hint, style) + '\n';
  }
  return text;
}

std::string verdict_counts(const std::vector<CheckResult>& checks) {
  const auto count = [&](Status status) {
    return std::count_if(checks.begin(), checks.end(),
                         [&](const CheckResult& check) { return check.status == status; });
  };
  return fmt::format("{} passed, {} warned, {} failed, {} skipped\n", count(Status::pass),
                     count(Status::warn), count(Status::fail), count(Status::skip));
}

}  // namespace

std::string trace_text(const TraceReport& report, const TextStyle& style) {
  std::string text = shown(report.headline, style) + "\n";
  if (!report.stages.empty()) text += '\n' + stage_table(report.stages, style);
  if (!report.heads.empty()) text += '\n' + head_text(report.heads);
  if (report.checks.empty()) return text;
  return text + '\n' + check_lines(report, style) + verdict_counts(report.checks);
}

}  // namespace qkv

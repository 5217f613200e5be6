// grad as text: headline, a row per gradient, what was found, the clipping, the comparison.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "qkv/base/text.hpp"
#include "qkv/report/grad_report.hpp"
#include "report/style.hpp"
#include "report/table.hpp"

namespace qkv {

namespace {

std::string gradient_table(const std::vector<GradRow>& rows) {
  using Align = Table::Align;
  Table table({{"gradient of"},
               {"shape", Align::right},
               {"norm", Align::right},
               {"max_abs", Align::right},
               {"NaN", Align::right},
               {"Inf", Align::right}});
  for (const GradRow& row : rows) {
    table.add({row.of, shape_text(row.shape), number_cell(row.norm), number_cell(row.max_abs),
               std::to_string(row.nan), std::to_string(row.inf)});
  }
  return table.text();
}

std::string finding_lines(const std::vector<CheckResult>& findings, const TextStyle& style) {
  std::string text;
  for (const CheckResult& finding : findings) {
    text += fmt::format("{}  {}  {}  {}\n", status_word(finding.status, style), finding.id,
                        finding.stage, shown(finding.message, style));
    if (!finding.hint.empty()) text += "      hint: " + shown(finding.hint, style) + '\n';
  }
  return text;
}

std::string clip_line(const GradClip& clip) {
  const std::string of =
      fmt::format("norm {} of {} together", short_number(clip.norm), listed(clip.of));
  if (!std::isfinite(clip.norm)) return fmt::format("clip  {}: nothing is clipped\n", of);
  if (clip.factor == 1)
    return fmt::format("clip  {}, within {}: left as they are\n", of, number_text(clip.max_norm));
  return fmt::format("clip  {} before, multiplied by {} to bring it to {}\n", of,
                     short_number(clip.factor), number_text(clip.max_norm));
}

std::string check_lines(const std::vector<GradCheckRow>& rows, const TextStyle& style) {
  using Align = Table::Align;
  Table table({{"check"},
               {"max_rel", Align::right},
               {"limit", Align::right},
               {"elements", Align::right},
               {""}});
  for (const GradCheckRow& row : rows) {
    const bool skipped = row.status == Status::skip;
    table.add({row.of, skipped ? "-" : number_cell(*row.max_rel),
               skipped ? "-" : number_cell(*row.limit),
               fmt::format("{} of {}", row.checked, row.count), row.worst});
  }
  const std::vector<std::string> lines = table.lines();
  std::string text = "      " + lines.front() + '\n';
  for (std::size_t n = 0; n < rows.size(); ++n)
    text += status_word(rows[n].status, style) + "  " + lines[n + 1] + '\n';
  const auto count = [&](Status status) {
    return std::ranges::count(rows, status, &GradCheckRow::status);
  };
  return text + fmt::format("{} passed, {} failed, {} skipped against central differences (f64)\n",
                            count(Status::pass), count(Status::fail), count(Status::skip));
}

}  // namespace

std::string grad_text(const GradReport& report, const TextStyle& style) {
  std::string text = shown(report.headline, style) + "\n\n" + gradient_table(report.grads);
  if (!report.findings.empty()) text += '\n' + finding_lines(report.findings, style);
  if (report.clip) text += '\n' + clip_line(*report.clip);
  if (!report.check.empty()) text += '\n' + check_lines(report.check, style);
  return text;
}

}  // namespace qkv

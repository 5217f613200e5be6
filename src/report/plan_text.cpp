// plan as text: what each stage takes, how it grows, and what fits.
#include <fmt/format.h>

#include "qkv/base/text.hpp"
#include "qkv/report/plan_report.hpp"
#include "report/style.hpp"
#include "report/table.hpp"

namespace qkv {

namespace {

constexpr auto right = Table::Align::right;

/// 512, 4.19 M, 1.07 G: three significant digits at most, powers of 1000.
std::string count_text(double count) {
  static constexpr const char* units[] = {"", " k", " M", " G", " T", " P", " E"};
  std::size_t unit = 0;
  while (count >= 999.5 && unit + 1 < std::size(units)) {
    count /= 1000;
    ++unit;
  }
  if (unit == 0) return fmt::format("{:.0f}", count);
  return fmt::format("{:.{}f}{}", count, count < 9.995 ? 2 : count < 99.95 ? 1 : 0, units[unit]);
}

std::string factor_text(const Growth& growth) {
  return growth.now > 0 ? fmt::format("x{:.3g}", growth.doubled / growth.now) : "-";
}

std::string stages(const PlanReport& report, const TextStyle& style) {
  Table table({{"stage"},
               {"is"},
               {"shape", right},
               {"dims"},
               {"step by step", right},
               {"one pass", right}});
  for (const PlanStage& stage : report.stages) {
    const std::string bytes = bytes_text(stage.bytes.now);
    table.add({stage.id, shown(stage.is, style), shape_text(stage.shape),
               shown(fmt::format("{}", fmt::join(stage.dims, ",")), style), bytes,
               stage.in_one_pass ? bytes : "-"});
  }
  table.add({"work", "kernel " + report.engine, "", "", "-", bytes_text(report.working.now)});
  return table.text();
}

std::string growth(const PlanReport& report) {
  const std::string length = report.both_lengths ? "L = S" : "S";
  Table table({{},
               {fmt::format("{} = {}", length, report.length), right},
               {fmt::format("{} = {}", length, 2 * report.length), right},
               {"grows", right}});
  const auto bytes = [&](const std::string& name, const Growth& growth) {
    table.add({name, bytes_text(growth.now), bytes_text(growth.doubled), factor_text(growth)});
  };
  const auto count = [&](const std::string& name, const Growth& growth) {
    table.add({name, count_text(growth.now), count_text(growth.doubled), factor_text(growth)});
  };
  bytes("memory, step by step (trace)", report.step_by_step);
  bytes("memory, one pass (run)", report.one_pass);
  count("multiply-adds", report.multiply_adds());
  if (report.projections.now > 0) count("  projections", report.projections);
  count("  scores", report.scores);
  count("  weighted sum", report.weighted_sum);
  return table.text();
}

std::string fits(const PlanReport& report) {
  const auto most = [](std::size_t count) {
    return count == 0                  ? std::string("none")
           : count >= plan_searched_to ? std::string("any")
                                       : std::to_string(count);
  };
  Table table({{fmt::format("fits {} ({})", bytes_text(report.budget), report.budget_from)},
               {"step by step", right},
               {"one pass", right}});
  table.add({fmt::format("longest {} at B = {}", report.both_lengths ? "L = S" : "S", report.batch),
             most(report.step_by_step_fits.length), most(report.one_pass_fits.length)});
  table.add(
      {fmt::format("largest B at {} = {}", report.both_lengths ? "L = S" : "S", report.length),
       most(report.step_by_step_fits.batch), most(report.one_pass_fits.batch)});
  return table.text();
}

/// d_model split among more heads: the same products, and one more (L,S) matrix for each of them.
std::string more_heads(const PlanReport& report) {
  return fmt::format(
      "Twice as many heads of half the width: the same multiply-adds, but stages of L*S elements\n"
      "take {} in place of {} step by step. More heads cost more; they are not better by "
      "themselves.\n",
      bytes_text(2 * report.square_bytes()), bytes_text(report.square_bytes()));
}

}  // namespace

std::string plan_text(const PlanReport& report, const TextStyle& style) {
  return shown(report.headline, style) + "\n\n" + stages(report, style) + "\n" + growth(report) +
         "\n" + fits(report) + "\n" + more_heads(report);
}

}  // namespace qkv

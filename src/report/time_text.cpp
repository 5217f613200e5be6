// run --time as text.
#include <fmt/format.h>

#include "qkv/base/text.hpp"
#include "qkv/report/report.hpp"
#include "report/table.hpp"

namespace qkv {

std::string time_text(const TimeReport& report) {
  // Seconds throughout, so that two reports compare at a glance.
  const auto seconds = [](double value) { return short_number(value) + " s"; };
  Table table({{}, {}});
  table.add({"read", seconds(report.read_s)});
  table.add({"compute", fmt::format("{} min, {} median of {} {}", seconds(report.compute_min_s),
                                    seconds(report.compute_median_s), report.runs,
                                    report.runs == 1 ? "run" : "runs")});
  table.add({"write", seconds(report.write_s)});
  table.add({"speed", fmt::format("{} GFLOP/s, {} {}, kernel {}", short_number(report.gflops),
                                  report.threads, report.threads == 1 ? "thread" : "threads",
                                  report.engine)});
  return table.text();
}

}  // namespace qkv

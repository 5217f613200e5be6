// diagnose as text: six steps, then what, where and how to mend it.
#include <fmt/format.h>

#include "qkv/base/text.hpp"
#include "qkv/report/diagnose_report.hpp"
#include "report/style.hpp"
#include "report/table.hpp"

namespace qkv {

namespace {

std::string chain_lines(const std::vector<ChainStep>& chain, const TextStyle& style) {
  std::string text;
  for (const ChainStep& step : chain) {
    text += fmt::format("{} {:<14} {}  {}\n", step.step, step.title,
                        status_word(step.status, style), shown(step.line, style));
  }
  return text;
}

std::string fault_lines(const FoundFault& fault, const TextStyle& style) {
  std::string text = fmt::format("fault  {}   {} (residual {})\n", fault.id,
                                 shown(fault.message, style), short_number(fault.residual));
  text += fmt::format("mend   {}\n", shown(fault.fix, style));
  if (!fault.ties.empty())
    text += fmt::format("these tensors cannot tell it from: {}\n", fmt::join(fault.ties, ", "));
  return text;
}

std::string blind_line(const std::vector<Blind>& blind, const TextStyle& style) {
  if (blind.empty()) return {};
  std::string text = "cannot be told from this input: ";
  for (std::size_t n = 0; n < blind.size(); ++n)
    text += (n == 0 ? "" : "; ") +
            fmt::format("{} ({})", fmt::join(blind[n].hides, ", "), blind[n].property);
  return shown(text, style) + "\n";
}

}  // namespace

std::string diagnose_text(const DiagnoseReport& report, const TextStyle& style) {
  const Diagnosis& diagnosis = report.diagnosis;
  std::string text = chain_lines(report.chain, style);
  for (const FoundFault& fault : diagnosis.faults) text += fault_lines(fault, style);
  if (diagnosis.faults.empty() && diagnosis.first_divergence) {
    text += "no known fault, and no pair of them, makes these numbers; start at " +
            *diagnosis.first_divergence + "\n";
  }
  if (diagnosis.faults.empty() && !diagnosis.first_divergence)
    text += "no fault: every stage given matches\n";
  return text + blind_line(diagnosis.blind, style);
}

}  // namespace qkv

// classify as text: a table of classes for each text.
#include <algorithm>
#include <cmath>

#include "qkv/base/text.hpp"
#include "qkv/report/classify_report.hpp"
#include "report/style.hpp"
#include "report/table.hpp"

namespace qkv {

namespace {

constexpr std::size_t longest_title = 78;

std::string title(const ClassifyReport& report, std::size_t b) {
  if (report.tokens.empty()) return report.batch ? "row " + std::to_string(b) : "";
  std::string words;
  for (const std::string& token : report.tokens[b]) words += (words.empty() ? "" : " ") + token;
  return (report.batch ? std::to_string(b) + "  " : "") +
         clipped(escaped(words, words.size()), longest_title);
}

}  // namespace

std::vector<ClassProbability> by_probability(const std::vector<std::string>& labels,
                                             const std::vector<double>& p) {
  std::vector<ClassProbability> classes;
  for (std::size_t c = 0; c < labels.size(); ++c) classes.push_back({labels[c], p[c]});
  std::ranges::stable_sort(classes, [](const ClassProbability& a, const ClassProbability& b) {
    return std::isnan(b.p) ? !std::isnan(a.p) : a.p > b.p;
  });
  return classes;
}

std::string classify_text(const ClassifyReport& report, const TextStyle& style) {
  std::string text;
  for (std::size_t b = 0; b < report.classes.size(); ++b) {
    const std::string heading = title(report, b);
    if (b > 0) text += "\n";
    if (!heading.empty()) text += shown(heading, style) + "\n";
    Table table({{"class"}, {"p", Table::Align::right}});
    for (const ClassProbability& c : report.classes[b])
      table.add({shown(escaped(c.label), style), short_number(c.p)});
    text += table.text();
  }
  return text;
}

}  // namespace qkv

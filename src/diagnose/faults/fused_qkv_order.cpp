// Fault fused-qkv-order: the columns of wqkv are read in another order than they are stored in.
#include <string>

#include "diagnose/faults.hpp"
#include "diagnose/faults/fused_columns.hpp"

namespace qkv::faults {

namespace {

using Columns = std::vector<FusedColumn>;

struct Reading {
  Columns columns;
  std::string text;    ///< "v, q, k"
  std::string option;  ///< the value of --qkv-order that reads so, where there is one
};

constexpr std::array<std::array<std::size_t, 3>, 6> orders = {
    {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {1, 0, 2}, {2, 1, 0}}};

std::string option_of(QkvOrder order) {
  return order == QkvOrder::blocks     ? "blocks"
         : order == QkvOrder::per_head ? "per-head"
                                       : "per-group";
}

std::string text_of(QkvOrder order, const std::array<std::size_t, 3>& parts, bool grouped) {
  std::string names;
  for (const std::size_t part : parts) names += std::string(names.empty() ? "" : " ") + "qkv"[part];
  if (order == QkvOrder::blocks) return "blocks " + names;
  return (grouped ? "groups of " : "heads of ") + names;
}

/// The parts innermost or the head innermost, as a split of the last axis into (H,D,3), (D,3,H) or
/// (D,H,3) reads them; all parts have H*D columns here.
Columns interleaved(const Sizes& sizes, const std::string& axes) {
  const std::size_t counts[3] = {axes[0] == 'H' ? sizes.H : sizes.D,
                                 axes[1] == 'H'   ? sizes.H
                                 : axes[1] == 'D' ? sizes.D
                                                  : 3,
                                 axes[2] == 'H' ? sizes.H : 3};
  Columns columns;
  for (std::size_t a = 0; a < counts[0]; ++a) {
    for (std::size_t b = 0; b < counts[1]; ++b) {
      for (std::size_t c = 0; c < counts[2]; ++c) {
        const std::size_t index[3] = {a, b, c};
        const std::size_t h = index[axes.find('H')], d = index[axes.find('D')];
        columns.push_back({index[axes.find('3')], h * sizes.D + d});
      }
    }
  }
  return columns;
}

std::vector<Reading> readings(const Sizes& sizes) {
  const bool grouped = sizes.G != sizes.H;
  std::vector<Reading> made;
  for (const auto& parts : orders) {
    for (const QkvOrder order :
         {QkvOrder::blocks, grouped ? QkvOrder::per_group : QkvOrder::per_head}) {
      const bool named = parts == orders.front();
      made.push_back({fused_columns(sizes, order, parts), text_of(order, parts, grouped),
                      named ? option_of(order) : ""});
    }
  }
  if (!grouped) {
    for (const char* axes : {"HD3", "D3H", "DH3"}) {
      std::string text = "axes (";
      for (const char* axis = axes; *axis != '\0'; ++axis)
        text += std::string(axis == axes ? "" : ",") + *axis;
      made.push_back({interleaved(sizes, axes), text + ")", ""});
    }
  }
  return made;
}

}  // namespace

std::vector<Variant> fused_qkv_order(const Case& the_case) {
  if (!the_case.inputs->wqkv) return {};
  const Problem<double>& problem = the_case.problem;
  const QkvOrder stored = problem.settings.qkv_order;
  const Columns meant = fused_columns(problem.sizes, stored);
  const bool with_bias = the_case.inputs->bqkv.has_value();
  const std::string stored_text =
      text_of(stored, orders.front(), problem.sizes.G != problem.sizes.H);
  std::vector<Variant> variants;
  for (const Reading& reading : readings(problem.sizes)) {
    // per-head and per-group are one order where every head has its own key and value
    if (reading.text == stored_text) continue;
    Variant made;
    made.apply = [meant, columns = reading.columns, with_bias](Alteration& a) {
      reread_columns(meant, columns, with_bias, a.problem);
    };
    made.message =
        "your q, k and v are columns of wqkv read as " + reading.text + ", not as " + stored_text;
    made.fix = "split wqkv as " + stored_text;
    if (!reading.option.empty()) {
      made.fix += ", or say --qkv-order " + reading.option + " if your reading is the right one";
    } else {
      made.fix += ", or bring its columns into this order if your reading is the right one";
    }
    variants.push_back(std::move(made));
  }
  return variants;
}

}  // namespace qkv::faults

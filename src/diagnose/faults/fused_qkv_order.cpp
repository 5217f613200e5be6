// Fault fused-qkv-order: the columns of wqkv are read in another order than they are stored in.
#include <string>

#include "diagnose/faults.hpp"
#include "diagnose/faults/fused_columns.hpp"
#include "diagnose/faults/roles.hpp"

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

/// Axes of the columns with the parts or the head innermost; all parts have H*D columns here.
enum class Axis { head, channel, part };
using Axes = std::array<Axis, 3>;

Columns interleaved(const Sizes& sizes, const Axes& axes) {
  const auto length = [&](Axis axis) {
    return axis == Axis::head ? sizes.H : axis == Axis::channel ? sizes.D : projections.size();
  };
  Columns columns;
  for (std::size_t a = 0; a < length(axes[0]); ++a) {
    for (std::size_t b = 0; b < length(axes[1]); ++b) {
      for (std::size_t c = 0; c < length(axes[2]); ++c) {
        const std::size_t index[3] = {a, b, c};
        std::size_t h = 0, d = 0, part = 0;
        for (std::size_t n = 0; n < axes.size(); ++n) {
          (axes[n] == Axis::head ? h : axes[n] == Axis::channel ? d : part) = index[n];
        }
        columns.push_back({part, h * sizes.D + d});
      }
    }
  }
  return columns;
}

/// Two parts exchanged in the order in which the columns stand is a role mistaken, which other
/// faults are for. Blocks q v k are an order that checkpoints have.
bool is_exchange(QkvOrder stored, QkvOrder read, const std::array<std::size_t, 3>& parts) {
  const bool same_groups = (stored == QkvOrder::blocks) == (read == QkvOrder::blocks);
  const bool of_q_and_k = parts == std::array<std::size_t, 3>{1, 0, 2},
             of_k_and_v = parts == std::array<std::size_t, 3>{0, 2, 1};
  return same_groups && (of_q_and_k || (of_k_and_v && stored != QkvOrder::blocks));
}

std::vector<Reading> readings(const Sizes& sizes, QkvOrder stored) {
  const bool grouped = sizes.G != sizes.H;
  std::vector<Reading> made;
  for (const auto& parts : orders) {
    for (const QkvOrder order :
         {QkvOrder::blocks, grouped ? QkvOrder::per_group : QkvOrder::per_head}) {
      if (is_exchange(stored, order, parts)) continue;
      const bool named = parts == orders.front();
      made.push_back({fused_columns(sizes, order, parts), text_of(order, parts, grouped),
                      named ? option_of(order) : ""});
    }
  }
  if (grouped) return made;
  constexpr Axis H = Axis::head, D = Axis::channel, part = Axis::part;
  made.push_back({interleaved(sizes, {H, D, part}), "axes (H,D,3)", ""});
  made.push_back({interleaved(sizes, {D, part, H}), "axes (D,3,H)", ""});
  made.push_back({interleaved(sizes, {D, H, part}), "axes (D,H,3)", ""});
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
  for (const Reading& reading : readings(problem.sizes, stored)) {
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

// Page: tensors as one HTML file, drawn by a script inside it, with values under the pointer.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "qkv/report/heat.hpp"
#include "qkv/report/report.hpp"

namespace qkv {

/// One tensor on a page, every head of every batch row that there is room for.
struct PageStage {
  StageRow row;  ///< id, formula, shape, dims and statistics; `is` and `dims` may be empty
  HeatMap map;   ///< panels by batch row, then head; no labels
  std::size_t batch_rows = 1, batch_shown = 1;
  std::size_t panels_of_row = 1;        ///< of one batch row
  std::vector<HeatLabels> labels = {};  ///< none, one for all, or one for each batch row
};

struct Page {
  std::string title;
  std::vector<std::pair<std::string, std::string>> config = {};  ///< name and value
  std::vector<PageStage> stages = {};
  std::vector<CheckResult> checks = {};
};

/// A stage with its cells.
///
/// row     its dims say which axes there are: "B" first is the batch; without dims, all axes but
/// the
///         last two are one grid, and of rank 4 the first batch row is taken
/// edge    matrices are averaged, and batch rows left out, where the page would grow by more than
///         some megabytes; the page says so
/// throws  Error as matrices_of() does
PageStage page_stage(StageRow row, const Array& array, const HeatOptions& options);

/// Of a tensor on its own, as show reads it: all its matrices.
PageStage page_stage(StageRow row, const Matrices& matrices, const HeatOptions& options);

/// The whole page. It asks for nothing from the network, and its policy forbids it to.
std::string page_html(const Page& page);

}  // namespace qkv

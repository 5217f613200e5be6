// A stage of a page: which batch rows, how fine, and what it carries for the script.
#include <algorithm>

#include "qkv/report/page.hpp"
#include "report/heat_parts.hpp"

namespace qkv {

namespace {

constexpr std::size_t most_cells = 600'000;  // of a stage: about 3 MB of float32 in base64
constexpr std::size_t most_side = 256;       // cells of a panel

/// All batch rows as one grid: (B,H,R,C) -> (B*H,R,C), (B,R,C) as it is.
Matrices batch_rows(const Array& array, const std::string& name, std::size_t count) {
  Array some = array;
  some.shape[0] = count;
  Matrices matrices = matrices_of(some, name);
  if (array.shape.size() != 4) return matrices;
  const std::size_t H = array.shape[1];
  matrices.array = reshaped(some, {count * H, array.shape[2], array.shape[3]});
  matrices.at.clear();
  for (std::size_t b = 0; b < count; ++b) {
    for (std::size_t h = 0; h < H; ++h) matrices.at.push_back({b, h});
  }
  return matrices;
}

/// As fine as `panels` panels may be.
HeatMap fine_map(const Matrices& matrices, const HeatOptions& options) {
  const std::size_t cells = std::min(most_cells / matrices.at.size(), most_side * most_side);
  return heat_map(matrices, limits_for(matrices.rows(), matrices.columns(), cells), options, {});
}

}  // namespace

PageStage page_stage(StageRow row, const Matrices& matrices, const HeatOptions& options) {
  PageStage stage;
  stage.panels_of_row = matrices.at.size();
  stage.map = fine_map(matrices, options);
  stage.row = std::move(row);
  return stage;
}

PageStage page_stage(StageRow row, const Array& array, const HeatOptions& options) {
  const Matrices first = matrices_of(array, row.id);
  if (row.dims.empty() || row.dims[0] != "B" || array.shape.size() < 3)
    return page_stage(std::move(row), first, options);
  PageStage stage;
  stage.batch_rows = array.shape[0];
  stage.panels_of_row = array.shape.size() == 4 ? array.shape[1] : 1;
  // Every head comes before another batch row, and a finer picture before more rows.
  const std::size_t cells_of_row = stage.panels_of_row * std::min(first.rows(), most_side) *
                                   std::min(first.columns(), most_side);
  stage.batch_shown = std::clamp<std::size_t>(most_cells / cells_of_row, 1, stage.batch_rows);
  stage.map = fine_map(batch_rows(array, row.id, stage.batch_shown), options);
  stage.row = std::move(row);
  return stage;
}

}  // namespace qkv

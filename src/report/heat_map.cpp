// Heat map: which matrices a tensor holds, and their elements averaged into cells.
#include <algorithm>
#include <cmath>
#include <limits>

#include "qkv/base/error.hpp"
#include "qkv/base/text.hpp"
#include "qkv/report/heat.hpp"

namespace qkv {

namespace {

/// A block's mean, and what else is in it.
struct Block {
  double mean = 0;
  std::size_t count = 0;
  bool nan = false, infinite = false;

  double cell() const {
    if (nan) return std::numeric_limits<double>::quiet_NaN();
    if (infinite) return std::numeric_limits<double>::infinity();
    return count > 0 ? mean : -std::numeric_limits<double>::infinity();
  }
};

/// One row of one matrix.
Array row_of(const Array& array, std::size_t matrix, std::size_t row) {
  Array part = array;
  part.shape = {array.shape[2]};
  part.strides = {array.strides[2]};
  part.data = array.data + static_cast<std::ptrdiff_t>(matrix) * array.strides[0] +
              static_cast<std::ptrdiff_t>(row) * array.strides[1];
  return part;
}

std::size_t block_size(std::size_t elements, std::size_t limit) {
  const std::size_t cells = std::max<std::size_t>(limit, 1);
  return elements <= cells ? 1 : (elements + cells - 1) / cells;
}

class Averager {
 public:
  Averager(HeatMap& map, bool hide_zeros) : map_(map), hide_zeros_(hide_zeros) {
    map_.min = map_.max = std::numeric_limits<double>::quiet_NaN();
  }

  std::vector<double> cells_of(const Array& array, std::size_t matrix) {
    std::vector<double> cells;
    cells.reserve(map_.rows * map_.columns);
    std::vector<double> elements(map_.matrix_columns);
    for (std::size_t first = 0; first < map_.matrix_rows; first += map_.block_rows) {
      std::vector<Block> blocks(map_.columns);
      const std::size_t end = std::min(first + map_.block_rows, map_.matrix_rows);
      for (std::size_t row = first; row < end; ++row) {
        copy_elements(row_of(array, matrix, row), elements.data());
        for (std::size_t column = 0; column < elements.size(); ++column)
          take(elements[column], blocks[column / map_.block_columns]);
      }
      for (const Block& block : blocks) cells.push_back(block.cell());
    }
    return cells;
  }

 private:
  void take(double element, Block& block) {
    const CellKind kind = hide_zeros_ && element == 0 ? CellKind::hidden : kind_of(element);
    switch (kind) {
      case CellKind::hidden:
        ++map_.hidden;
        break;
      case CellKind::nan:
        ++map_.nan;
        block.nan = true;
        break;
      case CellKind::infinite:
        ++map_.infinite;
        block.infinite = true;
        break;
      case CellKind::value:
        ++block.count;
        // Never a sum, which could overflow.
        block.mean += element / static_cast<double>(block.count) -
                      block.mean / static_cast<double>(block.count);
        map_.min = std::isnan(map_.min) ? element : std::min(map_.min, element);
        map_.max = std::isnan(map_.max) ? element : std::max(map_.max, element);
        break;
    }
  }

  HeatMap& map_;
  bool hide_zeros_;
};

HeatScale scale_of(const std::vector<HeatPanel>& panels) {
  double low = 0, high = 0;
  for (const HeatPanel& panel : panels) {
    for (const double cell : panel.cells) {
      if (kind_of(cell) != CellKind::value) continue;
      low = std::min(low, cell);
      high = std::max(high, cell);
    }
  }
  if (low < 0) high = std::max(high, -low);
  if (high == 0) high = 1;  // all cells are 0, or there is none
  return {.low = low < 0 ? -high : 0, .high = high};
}

}  // namespace

CellKind kind_of(double cell) {
  if (std::isnan(cell)) return CellKind::nan;
  if (std::isinf(cell)) return cell < 0 ? CellKind::hidden : CellKind::infinite;
  return CellKind::value;
}

double HeatScale::position(double value) const {
  if (value <= low) return 0;
  if (value >= high) return 1;
  if (diverging()) return value < 0 ? 0.5 - value / low / 2 : 0.5 + value / high / 2;
  // Halves, whose difference cannot overflow.
  return (value / 2 - low / 2) / (high / 2 - low / 2);
}

Matrices matrices_of(const Array& array, const std::string& name) {
  const std::size_t rank = array.shape.size();
  if (rank < 2 || rank > 4) {
    const bool vector = rank == 1;
    const bool part = name.ends_with(']');
    throw Error(
        Complaint{.what = "no matrix",
                  .where = escaped(name, 4096),
                  .expected = "rank 2, or 3 or 4 for a grid",
                  .got = shape_text(array.shape),
                  .hint = vector && !part ? escaped(name, 4096) + "[None] shows it as one row"
                          : rank > 4      ? "a part in brackets picks matrices out, such as [0,0]"
                                          : ""});
  }
  if (element_count(array.shape) == 0) {
    throw Error(Complaint{.what = "nothing to show",
                          .where = escaped(name, 4096),
                          .expected = "at least one element",
                          .got = shape_text(array.shape)});
  }
  Matrices matrices{.name = name, .shape = array.shape, .array = array, .at = {}};
  // Axes from the front: a matrix becomes a grid of one, of a batch the first row is taken.
  if (rank == 2) {
    matrices.array.shape.insert(matrices.array.shape.begin(), 1);
    matrices.array.strides.insert(matrices.array.strides.begin(), 0);
    matrices.at.push_back({});
    return matrices;
  }
  if (rank == 4) {
    matrices.array.shape.erase(matrices.array.shape.begin());
    matrices.array.strides.erase(matrices.array.strides.begin());
  }
  for (std::size_t n = 0; n < matrices.array.shape[0]; ++n)
    matrices.at.push_back(rank == 4 ? std::vector<std::size_t>{0, n} : std::vector<std::size_t>{n});
  return matrices;
}

HeatMap heat_map(const Matrices& matrices, const HeatLimits& limits, const HeatOptions& options,
                 const HeatLabels& labels) {
  HeatMap map;
  map.name = matrices.name;
  map.shape = matrices.shape;
  map.dtype = matrices.array.dtype;
  map.matrix_rows = matrices.rows();
  map.matrix_columns = matrices.columns();
  map.block_rows = block_size(map.matrix_rows, limits.rows);
  map.block_columns = block_size(map.matrix_columns, limits.columns);
  map.rows = (map.matrix_rows + map.block_rows - 1) / map.block_rows;
  map.columns = (map.matrix_columns + map.block_columns - 1) / map.block_columns;
  map.zeros_are_hidden = options.hide_zeros;
  if (map.block_rows == 1) map.labels.rows = labels.rows;
  if (map.block_columns == 1) map.labels.columns = labels.columns;
  Averager averager(map, options.hide_zeros);
  for (std::size_t n = 0; n < matrices.at.size(); ++n)
    map.panels.push_back({matrices.at[n], averager.cells_of(matrices.array, n)});
  map.scale = options.has_range ? options.range : scale_of(map.panels);
  return map;
}

}  // namespace qkv

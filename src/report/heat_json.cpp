// Heat map as JSON, schema qkv.show/1.
#include "qkv/report/heat.hpp"
#include "report/heat_parts.hpp"
#include "report/json_parts.hpp"

namespace qkv {

namespace {

/// A list of rows. What is no number is null: the counts say what there is.
Json cells_json(const HeatMap& map, const HeatPanel& panel) {
  Json rows = Json::array();
  for (std::size_t row = 0; row < map.rows; ++row) {
    Json cells = Json::array();
    for (std::size_t column = 0; column < map.columns; ++column)
      cells.push(Json(panel.cells[row * map.columns + column]));
    rows.push(std::move(cells));
  }
  return rows;
}

Json labels_json(const std::vector<std::string>& labels) {
  return labels.empty() ? Json() : json_array(labels);
}

}  // namespace

std::string heat_json(const HeatMap& map, const std::vector<std::string>& outputs) {
  Json scale = Json::object();
  scale.add("kind", map.scale.diverging() ? "diverging" : "sequential")
      .add("low", map.scale.low)
      .add("high", map.scale.high);
  Json panels = Json::array();
  for (const HeatPanel& panel : map.panels)
    panels.push(
        Json::object().add("at", json_array(panel.at)).add("cells", cells_json(map, panel)));
  Json document = Json::object();
  document.add("schema", "qkv.show/1")
      .add("tensor", map.name)
      .add("shape", json_array(map.shape))
      .add("dtype", name(map.dtype))
      .add("min", map.min)
      .add("max", map.max)
      .add("hidden", map.hidden)
      .add("nan", map.nan)
      .add("pos_inf", map.infinite)
      .add("scale", std::move(scale))
      .add("block", json_array(std::vector<std::size_t>{map.block_rows, map.block_columns}))
      .add("row_labels", labels_json(map.labels.rows))
      .add("column_labels", labels_json(map.labels.columns))
      .add("panels", std::move(panels))
      .add("outputs", json_array(outputs));
  return document.dump();
}

}  // namespace qkv

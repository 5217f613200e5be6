// The page: its text as HTML, its numbers as JSON for the script.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "qkv/base/text.hpp"
#include "qkv/report/page.hpp"
#include "report/base64.hpp"
#include "report/heat_parts.hpp"
#include "report/json_parts.hpp"
#include "report/markup.hpp"
#include "report/page_assets.hpp"
#include "report/style.hpp"

namespace qkv {

namespace {

/// Double where float32 could not hold what the element is.
bool needs_double(DType dtype) {
  return dtype == DType::float64 || (is_integer(dtype) && size_of(dtype) > 2);
}

template <class T>
std::string packed(const std::vector<double>& cells) {
  std::vector<T> numbers;
  numbers.reserve(cells.size());
  for (const double cell : cells) numbers.push_back(static_cast<T>(cell));
  return base64(std::as_bytes(std::span<const T>(numbers)));
}

Json labels_json(const std::vector<HeatLabels>& all) {
  const auto texts = [](const std::vector<std::string>& labels) {
    Json list = Json::array();
    for (const std::string& label : labels) list.push(escaped(label, 4096));
    return list;
  };
  Json list = Json::array();
  for (const HeatLabels& labels : all)
    list.push(Json::object().add("rows", texts(labels.rows)).add("columns", texts(labels.columns)));
  return list;
}

std::size_t batch_of(const PageStage& stage, std::size_t panel) {
  return panel / stage.panels_of_row;
}

Json stage_data(const PageStage& stage) {
  const HeatMap& map = stage.map;
  const bool doubles = needs_double(stage.row.dtype);
  Json panels = Json::array();
  for (std::size_t n = 0; n < map.panels.size(); ++n) {
    const HeatPanel& panel = map.panels[n];
    panels.push(
        Json::object()
            .add("at", json_array(panel.at))
            .add("batch", batch_of(stage, n))
            .add("cells", doubles ? packed<double>(panel.cells) : packed<float>(panel.cells)));
  }
  using Sizes = std::vector<std::size_t>;
  return Json::object()
      .add("name", escaped(stage.row.id, 4096))
      .add("rows", map.rows)
      .add("columns", map.columns)
      .add("matrix", json_array(Sizes{map.matrix_rows, map.matrix_columns}))
      .add("block", json_array(Sizes{map.block_rows, map.block_columns}))
      .add("low", map.scale.low)
      .add("high", map.scale.high)
      .add("kind", doubles ? "f64" : "f32")
      .add("labels", labels_json(stage.labels))
      .add("panelsOfRow", stage.panels_of_row)
      .add("panels", std::move(panels));
}

Json colours_json(const ColourMap& map) {
  Json list = Json::array();
  for (const Rgb colour : map.colours()) list.push(hex(colour));
  return list;
}

std::string data_json(const Page& page) {
  Json stages = Json::array();
  for (const PageStage& stage : page.stages) stages.push(stage_data(stage));
  Json document = Json::object();
  document.add("stages", std::move(stages))
      .add("maps", Json::object()
                       .add("sequential", colours_json(ColourMap::sequential()))
                       .add("diverging", colours_json(ColourMap::diverging())))
      .add("kinds", Json::object()
                        .add("hidden", hex(hidden_colour))
                        .add("nan", hex(nan_colour))
                        .add("infinite", hex(infinite_colour)));
  return script_json(document.dump(false));
}

std::string check_item(const CheckResult& check) {
  const std::string_view status = name(check.status);
  std::string text = fmt::format("<li><span class=\"status {0}\">{0}</span> <code>{1}</code> {2}",
                                 status, markup(check.id), markup(check.message));
  if (!check.hint.empty())
    text += fmt::format("<span class=\"hint\">{}</span>", markup(check.hint));
  return text + "</li>\n";
}

std::string check_list(const std::vector<const CheckResult*>& checks) {
  if (checks.empty()) return "";
  std::string text = "<ul class=\"checks\">\n";
  for (const CheckResult* check : checks) text += check_item(*check);
  return text + "</ul>\n";
}

class Html {
 public:
  explicit Html(const Page& page) : page_(page), beside_(page.stages.size()) { deal_checks(); }

  std::string text() const {
    const std::string title = markup(page_.title);
    std::string html =
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
        "script-src 'unsafe-inline'; style-src 'unsafe-inline'\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<title>" +
        title + "</title>\n<style>" + std::string(page_style) +
        "</style>\n</head>\n<body>\n<header>\n<h1>" + title + "</h1>\n" + config() + "</header>\n" +
        navigation() + "<main>\n" +
        "<noscript><p>A script within this page draws the pictures.</p></noscript>\n" + overview();
    for (std::size_t n = 0; n < page_.stages.size(); ++n) html += section(n);
    return html + "</main>\n<div id=\"tip\" role=\"status\" hidden></div>\n" +
           "<script type=\"application/json\" id=\"data\">" + data_json(page_) + "</script>\n" +
           "<script>" + std::string(page_script) + "</script>\n</body>\n</html>\n";
  }

 private:
  /// A check stands beside the first stage that it looked at and that is shown, or else on top.
  void deal_checks() {
    for (const CheckResult& check : page_.checks) {
      const auto looks_at = [&](const PageStage& stage) {
        return ("," + check.stage + ",").find("," + stage.row.id + ",") != std::string::npos;
      };
      const auto stage = std::ranges::find_if(page_.stages, looks_at);
      if (stage == page_.stages.end()) {
        on_top_.push_back(&check);
      } else {
        beside_[static_cast<std::size_t>(stage - page_.stages.begin())].push_back(&check);
      }
    }
  }

  std::string config() const {
    if (page_.config.empty()) return "";
    std::string html = "<p class=\"config\">";
    for (const auto& [key, value] : page_.config)
      html += fmt::format("<span>{} <b>{}</b></span> ", markup(key), markup(value));
    return html + "</p>\n";
  }

  std::string navigation() const {
    std::size_t batch = 1;
    for (const PageStage& stage : page_.stages) batch = std::max(batch, stage.batch_shown);
    std::string html = "<nav><div>";
    for (std::size_t n = 0; n < page_.stages.size() && page_.stages.size() > 1; ++n) {
      std::vector<CheckResult> checks;
      for (const CheckResult* check : beside_[n]) checks.push_back(*check);
      const Status status = worst_status(checks);
      const bool bad = status == Status::warn || status == Status::fail;
      html += fmt::format("<a href=\"#stage-{}\"{}>{}</a> ", n,
                          bad ? fmt::format(" class=\"{}\"", name(status)) : "",
                          markup(page_.stages[n].row.id));
    }
    html +=
        "<label>end the scale at a tenth, a hundredth ... <input id=\"share\" "
        "type=\"range\" min=\"0\" max=\"3\" step=\"0.1\" value=\"0\"></label>";
    if (batch > 1) {
      html += "<label>batch row <select id=\"batch\">";
      for (std::size_t b = 0; b < batch; ++b) html += fmt::format("<option>{}</option>", b);
      html += "</select></label>";
    }
    return html + "</div></nav>\n";
  }

  std::string overview() const {
    if (page_.checks.empty()) return "";
    std::size_t counts[4] = {};
    for (const CheckResult& check : page_.checks) ++counts[static_cast<std::size_t>(check.status)];
    std::string html = "<section>\n<h2>Checks<small>";
    const char* joint = "";
    for (const Status status : {Status::pass, Status::warn, Status::fail, Status::skip}) {
      html += fmt::format("{}<span class=\"{}\">{} {}</span>", joint, name(status),
                          counts[static_cast<std::size_t>(status)], name(status));
      joint = ", ";
    }
    return html + "</small></h2>\n" + check_list(on_top_) + "</section>\n";
  }

  std::string section(std::size_t n) const {
    const PageStage& stage = page_.stages[n];
    std::string html = fmt::format("<section id=\"stage-{}\">\n<h2>{}<small>{}</small></h2>\n", n,
                                   markup(stage.row.id), markup(stage.row.is));
    html += "<div class=\"sides\">\n<div>\n<div class=\"panels\">\n";
    for (std::size_t p = 0; p < stage.map.panels.size(); ++p) html += figure(n, p);
    html += "</div>\n" + legend(stage.map) + notes(stage) + "</div>\n<div>\n";
    return html + numbers(stage) + check_list(beside_[n]) + "</div>\n</div>\n</section>\n";
  }

  std::string figure(std::size_t stage_number, std::size_t panel_number) const {
    const PageStage& stage = page_.stages[stage_number];
    const HeatPanel& panel = stage.map.panels[panel_number];
    const std::string batch = stage.batch_shown > 1
                                  ? fmt::format(" data-batch=\"{}\"", batch_of(stage, panel_number))
                                  : "";
    const bool several = stage.panels_of_row > 1;
    const bool heads = several && (stage.row.dims.empty() ? stage.row.shape.size() == 4 : true);
    const std::string title = !several ? ""
                              : heads  ? fmt::format("head {}", panel.at.back())
                                       : index_text(panel.at);
    return fmt::format(
        "<figure{}>{}<canvas data-stage=\"{}\" data-panel=\"{}\" tabindex=\"0\" role=\"img\" "
        "aria-label=\"{}{}, {} by {}\"></canvas></figure>\n",
        batch, title.empty() ? "" : "<figcaption>" + title + "</figcaption>", stage_number,
        panel_number, markup(stage.row.id), markup(panel.at.empty() ? "" : index_text(panel.at)),
        stage.map.matrix_rows, stage.map.matrix_columns);
  }

  static std::string legend(const HeatMap& map) {
    std::string html = "<div class=\"legend\">";
    if (!std::isnan(map.min)) {
      const ColourMap colours = colour_map(map.scale);
      std::string stops;
      constexpr int count = 16;
      for (int n = 0; n <= count; ++n)
        stops += (n > 0 ? "," : "") + hex(colours.at(static_cast<double>(n) / count));
      const double from = map.scale.diverging() ? 0 : map.scale.low;
      const auto end = [from](double value) {
        return fmt::format("<span data-end=\"{}\" data-from=\"{}\">{}</span>", number_text(value),
                           number_text(from), short_number(value));
      };
      html += fmt::format(
          "<span>{}<span class=\"bar\" style=\"background:linear-gradient(to right,{})\"></span>"
          "{}</span>",
          end(map.scale.low), stops, end(map.scale.high));
    }
    for (const KindText& kind : kinds_text(map)) {
      const bool hidden = kind.kind == CellKind::hidden;
      html += fmt::format(
          "<span><span class=\"swatch{}\" style=\"background-color:{}\"></span>{}</span>",
          hidden ? " hidden" : "", hex(kind_colour(kind.kind)), kind.text);
    }
    return html + "</div>\n";
  }

  static std::string notes(const PageStage& stage) {
    std::string html;
    if (stage.map.averaged())
      html += "<p class=\"note\">Averaged down: " + averaged_text(stage.map) + ".</p>\n";
    if (stage.batch_shown < stage.batch_rows) {
      html += fmt::format("<p class=\"note\">Batch rows 0 to {} of {}.</p>\n",
                          stage.batch_shown - 1, stage.batch_rows);
    }
    return html;
  }

  static std::string numbers(const PageStage& stage) {
    std::string dims;
    for (const std::string& dim : stage.row.dims) dims += (dims.empty() ? "" : ",") + dim;
    const Stats& stats = stage.row.stats;
    std::string html = "<table>\n";
    const auto row = [&](std::string_view title, const std::string& value) {
      html += fmt::format("<tr><td>{}</td><td>{}</td></tr>\n", title, markup(value));
    };
    row("shape", shape_text(stage.row.shape) + (dims.empty() ? "" : "  " + dims));
    row("dtype", std::string(name(stage.row.dtype)));
    row("min", number_cell(stats.min));
    row("max", number_cell(stats.max));
    row("mean", number_cell(stats.mean));
    row("std", number_cell(stats.std));
    if (stats.nan > 0) row("NaN", std::to_string(stats.nan));
    if (stats.pos_inf > 0) row("+Inf", std::to_string(stats.pos_inf));
    if (stats.neg_inf > 0) row("-Inf", std::to_string(stats.neg_inf));
    return html + "</table>\n";
  }

  const Page& page_;
  std::vector<std::vector<const CheckResult*>> beside_;  ///< by stage
  std::vector<const CheckResult*> on_top_ = {};
};

}  // namespace

std::string page_html(const Page& page) { return Html(page).text(); }

}  // namespace qkv

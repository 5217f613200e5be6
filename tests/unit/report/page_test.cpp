// page_html(): what stands in the page, and that nothing in it can break out or reach out.
#include "qkv/report/page.hpp"

#include <catch2/catch.hpp>
#include <cstring>
#include <limits>
#include <span>

#include "qkv/base/json.hpp"
#include "report/base64.hpp"
#include "support/arrays.hpp"

using namespace qkv;
using namespace qkv::test;

namespace {

const double inf = std::numeric_limits<double>::infinity();

std::string between(const std::string& text, const std::string& from, const std::string& to) {
  const std::size_t start = text.find(from);
  REQUIRE(start != std::string::npos);
  const std::size_t end = text.find(to, start + from.size());
  REQUIRE(end != std::string::npos);
  return text.substr(start + from.size(), end - start - from.size());
}

Json data_of(const std::string& html) {
  return Json::parse(between(html, "<script type=\"application/json\" id=\"data\">", "</script>"),
                     "page");
}

StageRow row(const std::string& id, const Shape& shape, const std::vector<std::string>& dims) {
  StageRow row;
  row.id = id;
  row.shape = shape;
  row.dims = dims;
  row.dtype = DType::float32;
  return row;
}

Page page_of(const Shape& shape, const std::vector<double>& numbers,
             const std::vector<std::string>& dims) {
  Page page{.title = "stages"};
  const Array array = array_of(shape, numbers, DType::float32).array;
  page.stages.push_back(page_stage(row("attn", shape, dims), array, {}));
  return page;
}

}  // namespace

TEST_CASE("base64: the test vectors of RFC 4648") {
  const auto of = [](const std::string& text) {
    return base64(std::as_bytes(std::span(text.data(), text.size())));
  };
  CHECK(of("").empty());
  CHECK(of("f") == "Zg==");
  CHECK(of("fo") == "Zm8=");
  CHECK(of("foo") == "Zm9v");
  CHECK(of("foob") == "Zm9vYg==");
  CHECK(of("fooba") == "Zm9vYmE=");
  CHECK(of("foobar") == "Zm9vYmFy");
}

TEST_CASE("page: every head of every batch row, its cells as float32") {
  const Json data =
      data_of(page_html(page_of({2, 2, 1, 2}, {1, 2, 3, 4, 5, 6, 7, -inf}, {"B", "H", "L", "S"})));
  const auto& stages = data.find("stages")->items();
  REQUIRE(stages.size() == 1);
  const auto& panels = stages[0].find("panels")->items();
  REQUIRE(panels.size() == 4);
  CHECK(panels[3].find("batch")->number() == 1);
  CHECK(panels[3].find("at")->items()[1].number() == 1);
  // 1.0f and 2.0f are 3f800000 and 40000000, 7.0f and -inf are 40e00000 and ff800000.
  CHECK(panels[0].find("cells")->text() == "AACAPwAAAEA=");
  CHECK(panels[3].find("cells")->text() == "AADgQAAAgP8=");
  CHECK(stages[0].find("kind")->text() == "f32");
  CHECK(data.find("maps")->find("sequential")->items()[0].text() == "#1c0e40");
}

TEST_CASE("page: a rank 3 tensor with a batch has one panel a row, with heads one a head") {
  const std::vector<double> numbers = {1, 2, 3, 4};
  const Page batch = page_of({2, 1, 2}, numbers, {"B", "L", "E"});
  CHECK(batch.stages[0].batch_shown == 2);
  CHECK(batch.stages[0].panels_of_row == 1);
  const Page heads = page_of({2, 1, 2}, numbers, {"H", "L", "S"});
  CHECK(heads.stages[0].batch_shown == 1);
  CHECK(heads.stages[0].panels_of_row == 2);
  CHECK(page_html(batch).find("<select id=\"batch\">") != std::string::npos);
  CHECK(page_html(heads).find("<select id=\"batch\">") == std::string::npos);
  CHECK(page_html(heads).find("<figcaption>head 1</figcaption>") != std::string::npos);
}

TEST_CASE("page: what does not fit is averaged or left out, and the page says so") {
  Page page =
      page_of({40, 1, 300, 300}, std::vector<double>(40 * 300 * 300, 1.0), {"B", "H", "L", "S"});
  const PageStage& stage = page.stages[0];
  CHECK(stage.map.block_rows == 2);
  CHECK(stage.batch_shown == 9);  // 600000 / 256^2
  const std::string html = page_html(page);
  CHECK(html.find("a cell is the mean of 2 by 2 elements") != std::string::npos);
  CHECK(html.find("Batch rows 0 to 8 of 40") != std::string::npos);
}

TEST_CASE("page: checks stand beside the stage that they looked at, the others on top") {
  Page page = page_of({1, 2}, {0.5, 0.5}, {"L", "S"});
  page.checks = {{.id = "input.finite", .stage = "inputs", .status = Status::pass, .message = "ok"},
                 {.id = "softmax.row_sum",
                  .stage = "attn",
                  .status = Status::fail,
                  .message = "sums to 2",
                  .hint = "divide"}};
  const std::string html = page_html(page);
  const std::string top = between(html, "<h2>Checks", "</section>");
  CHECK(top.find("input.finite") != std::string::npos);
  CHECK(top.find("softmax.row_sum") == std::string::npos);
  CHECK(top.find("1 fail") != std::string::npos);
  const std::string stage = between(html, "<section id=\"stage-0\">", "</section>");
  CHECK(stage.find("sums to 2") != std::string::npos);
  CHECK(stage.find("<span class=\"hint\">divide</span>") != std::string::npos);
}

TEST_CASE("page: no text can become markup or script, and nothing comes from elsewhere") {
  const std::string nasty = "</script><img src=x onerror=\"alert(1)\">&'";
  Page page = page_of({1, 2}, {0.5, 0.5}, {"L", "S"});
  page.title = nasty;
  page.config = {{nasty, nasty}};
  page.stages[0].row.id = nasty;
  page.stages[0].row.is = nasty;
  page.stages[0].row.dims = {nasty, nasty};
  page.stages[0].labels = {{.rows = {nasty}, .columns = {nasty, nasty}}};
  page.checks = {{.id = nasty, .stage = nasty, .message = nasty, .hint = nasty}};
  const std::string html = page_html(page);
  CHECK(html.find("<img") == std::string::npos);
  std::size_t ends = 0;
  for (std::size_t at = 0; (at = html.find("</script", at)) != std::string::npos; ++at) ++ends;
  CHECK(ends == 2);
  CHECK(data_of(html).find("stages")->items()[0].find("name")->text() == nasty);
  CHECK(html.find("://") == std::string::npos);
  CHECK(html.find("default-src 'none'") != std::string::npos);
}

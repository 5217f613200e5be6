// heat_map(): which matrices there are, means of blocks, what counts as hidden, and the scale.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "qkv/base/error.hpp"
#include "qkv/report/heat.hpp"
#include "support/arrays.hpp"

using namespace qkv;
using namespace qkv::test;

namespace {

const double inf = std::numeric_limits<double>::infinity();
const double not_a_number = std::nan("");

Matrices matrices(const Shape& shape, const std::vector<double>& numbers) {
  return matrices_of(array_of(shape, numbers).array, "t.npy");
}

HeatMap whole(const Matrices& from, const HeatOptions& options = {}) {
  return heat_map(from, {.rows = 100, .columns = 100}, options, {});
}

std::string complaint(const Shape& shape, const std::string& name = "t.npy") {
  try {
    matrices_of(array_of(shape, std::vector<double>(element_count(shape), 0)).array, name);
  } catch (const Error& error) {
    return std::string(error.what()) + "; " + error.complaints()[0].hint;
  }
  return "";
}

}  // namespace

TEST_CASE("matrices: rank 2 is one, rank 3 a grid, rank 4 the heads of the first batch row") {
  CHECK(matrices({2, 3}, {1, 2, 3, 4, 5, 6}).at == std::vector<std::vector<std::size_t>>{{}});
  CHECK(matrices({2, 1, 1}, {1, 2}).at == std::vector<std::vector<std::size_t>>{{0}, {1}});
  const HeatMap map = whole(matrices({2, 2, 1, 2}, {1, 2, 3, 4, 5, 6, 7, 8}));
  REQUIRE(map.panels.size() == 2);
  CHECK(map.panels[1].at == std::vector<std::size_t>{0, 1});
  CHECK(map.panels[0].cells == std::vector<double>{1, 2});
  CHECK(map.panels[1].cells == std::vector<double>{3, 4});
}

TEST_CASE("matrices: another rank, or no element, is an error that shows the shape") {
  CHECK(complaint({6}) ==
        "no matrix (t.npy): expected rank 2, or 3 or 4 for a grid, got (6); t.npy[None] shows it "
        "as one row");
  CHECK(complaint({6}, "t.npy[0]") ==
        "no matrix (t.npy[0]): expected rank 2, or 3 or 4 for a grid, got (6); ");
  CHECK(complaint({}).starts_with("no matrix (t.npy)"));
  CHECK(complaint({1, 1, 1, 1, 1}).find("[0,0]") != std::string::npos);
  CHECK(complaint({0, 4}) == "nothing to show (t.npy): expected at least one element, got (0,4); ");
}

TEST_CASE("heat map: reads columns of a transposed array where they are") {
  const Array array = transposed(array_of({2, 3}, {1, 2, 3, 4, 5, 6}).array, {1, 0});
  CHECK(whole(matrices_of(array, "t")).panels[0].cells == std::vector<double>{1, 4, 2, 5, 3, 6});
}

TEST_CASE("heat map: a cell is the mean of its block, the last blocks are smaller") {
  // 3 rows and 5 columns in at most 2 by 2: blocks of 2 rows and 3 columns.
  const HeatMap map = heat_map(
      matrices({3, 5}, {1, 2, 3, 10, 20, 4, 5, 6, 30, 40, 7, 8, 9, 50, 70}), {2, 2}, {}, {});
  CHECK(map.block_rows == 2);
  CHECK(map.block_columns == 3);
  CHECK(map.panels[0].cells == std::vector<double>{3.5, 25, 8, 60});
  CHECK(map.min == 1);
  CHECK(map.max == 70);
  CHECK(map.scale.high == 60);  // what is drawn
}

TEST_CASE("heat map: hidden elements take no part in a mean, NaN and +Inf are not averaged away") {
  const HeatMap map = heat_map(matrices({2, 8}, {2, -inf, -inf, -inf, not_a_number, 5, inf, 1,  //
                                                 4, -inf, -inf, -inf, -inf, 5, 3, 1}),
                               {1, 4}, {}, {});
  const auto& cells = map.panels[0].cells;
  CHECK(cells[0] == 3);
  CHECK(kind_of(cells[1]) == CellKind::hidden);
  CHECK(kind_of(cells[2]) == CellKind::nan);
  CHECK(kind_of(cells[3]) == CellKind::infinite);
  CHECK(map.hidden == 7);
  CHECK(map.nan == 1);
  CHECK(map.infinite == 1);
}

TEST_CASE("heat map: zeros are hidden only when asked, and small weights never") {
  const Matrices attn = matrices({2, 2}, {1, 0, 1e-300, 1});
  CHECK(whole(attn).hidden == 0);
  const HeatMap map = whole(attn, {.hide_zeros = true});
  CHECK(map.hidden == 1);
  CHECK(kind_of(map.panels[0].cells[1]) == CellKind::hidden);
  CHECK(kind_of(map.panels[0].cells[2]) == CellKind::value);
  CHECK(map.min == 1e-300);
}

TEST_CASE("heat map: a scale from 0 for weights, around 0 where something is negative") {
  const HeatScale weights = whole(matrices({1, 3}, {0.25, 0.5, 0.125})).scale;
  CHECK(weights.low == 0);
  CHECK(weights.high == 0.5);
  CHECK_FALSE(weights.diverging());
  CHECK(weights.position(0.125) == 0.25);
  const HeatScale scores = whole(matrices({1, 2}, {-4, 1})).scale;
  CHECK(scores.low == -4);
  CHECK(scores.high == 4);
  CHECK(scores.diverging());
  CHECK(scores.position(0) == 0.5);
  CHECK(scores.position(1) == 0.625);
  CHECK(scores.position(-4) == 0);
}

TEST_CASE("heat map: a scale for all zeros, for nothing finite and for the greatest numbers") {
  CHECK(whole(matrices({1, 2}, {0, 0})).scale.position(0) == 0);
  const HeatMap none = whole(matrices({1, 2}, {not_a_number, -inf}));
  CHECK(std::isnan(none.min));
  CHECK(none.scale.high == 1);
  const double most = std::numeric_limits<double>::max();
  const HeatMap great = heat_map(matrices({1, 4}, {most, most, -most, -most}), {1, 2}, {}, {});
  CHECK(great.panels[0].cells == std::vector<double>{most, -most});
  CHECK(great.scale.position(most) == 1);
  CHECK(great.scale.position(-most / 2) == 0.25);
}

TEST_CASE("heat map: a given range has its zero in the middle of the colours all the same") {
  const HeatScale scale{.low = -1, .high = 3};
  CHECK(scale.position(0) == 0.5);
  CHECK(scale.position(1.5) == 0.75);
  CHECK(scale.position(-0.5) == 0.25);
  CHECK(scale.position(9) == 1);
  CHECK(HeatScale{.low = 2, .high = 4}.position(3) == 0.5);
}

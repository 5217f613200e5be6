// Table: alignment by what is seen, not by bytes.
#include "report/table.hpp"

#include <catch2/catch.hpp>

using namespace qkv;

TEST_CASE("display_width: counts code points, not bytes") {
  CHECK(display_width("") == 0);
  CHECK(display_width("q*k^T") == 5);
  CHECK(display_width("q·kᵀ") == 4);
  CHECK(display_width("scale 1/√4") == 10);
}

TEST_CASE(
    "table: columns are as wide as their widest cell, two blanks apart, no blanks at the end") {
  Table table({{"stage"}, {"is"}, {"max", Table::Align::right}});
  table.add({"q", "x·Wq", "2.5"});
  table.add({"scores", "q·kᵀ", "12.25"});
  CHECK(table.text() ==
        "stage   is      max\n"
        "q       x·Wq    2.5\n"
        "scores  q·kᵀ  12.25\n");
}

TEST_CASE("table: titles that are all empty take no line, an empty last cell leaves no blanks") {
  Table table({{}, {}});
  table.add({"read", "1 s"});
  table.add({"compute", ""});
  CHECK(table.text() ==
        "read     1 s\n"
        "compute\n");
}

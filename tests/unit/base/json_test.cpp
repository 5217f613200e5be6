// JSON in and out.
#include "qkv/base/json.hpp"

#include <catch2/catch.hpp>
#include <limits>

#include "qkv/base/error.hpp"

using namespace qkv;
using Catch::Matchers::Equals;

namespace {

std::string error_of(const std::string& text) {
  try {
    Json::parse(text, "config.json");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::string line(const Json& json) { return json.dump(false); }

}  // namespace

TEST_CASE("json: numbers that JSON does not have become null") {
  CHECK(line(Json(std::numeric_limits<double>::quiet_NaN())) == "null\n");
  CHECK(line(Json(std::numeric_limits<double>::infinity())) == "null\n");
  CHECK(line(Json(-std::numeric_limits<double>::infinity())) == "null\n");
}

TEST_CASE("json: a double is written in the fewest digits that read back as it") {
  for (const double value : {0.1, 1.0 / 3, 5e-324, 1.7976931348623157e308, -2.5, 1e22, 123456789.0,
                             9007199254740993.0, 6.02214076e23, -0.0}) {
    const std::string text = line(Json(value));
    CAPTURE(text);
    CHECK(Json::parse(text, "x").number() == value);
  }
  CHECK(line(Json(0.1)) == "0.1\n");
  CHECK(line(Json(5e-324)) == "5e-324\n");
  CHECK(line(Json(2.0)) == "2.0\n");
}

TEST_CASE("json: sizes and ints are written without a fraction, also after being read") {
  CHECK(line(Json(std::size_t{4294967296})) == "4294967296\n");
  CHECK(line(Json(std::size_t{1} << 53)) == "9007199254740992\n");
  CHECK(line(Json(-7)) == "-7\n");
  CHECK(line(Json::parse("[3, -3, 3.0]", "x")) == "[3,-3,3.0]\n");
}

TEST_CASE("json: text is escaped, and bytes that are no UTF-8 are replaced, not thrown") {
  CHECK(line(Json("a\"b\\c\n\x01é")) == "\"a\\\"b\\\\c\\n\\u0001é\"\n");
  CHECK(line(Json("x\xff")) == "\"x\xef\xbf\xbd\"\n");
  CHECK(line(Json::object({{"k\xff", Json(1)}})) == "{\"k\xef\xbf\xbd\":1}\n");
}

TEST_CASE("json: members keep the order in which they were added") {
  Json json = Json::object();
  json.add("z", 1).add("a", Json::array({Json(true), Json(), Json("t")})).add("m", Json::object());
  CHECK(line(json) == "{\"z\":1,\"a\":[true,null,\"t\"],\"m\":{}}\n");
  CHECK(line(Json::parse(line(json), "x")) == line(json));
}

TEST_CASE("json: pretty is a line for each member and for each item of a list of objects") {
  Json stages = Json::array();
  stages.push(Json::object({{"name", "q"}, {"shape", Json::array({Json(2), Json(4)})}}));
  stages.push(Json::object({{"name", "k"}, {"min", Json()}}));
  const Json json = Json::object({{"schema", "qkv.trace/1"},
                                  {"config", Json::object({{"heads", Json(2)}})},
                                  {"dims", Json::array({Json("B"), Json("L")})},
                                  {"stages", stages},
                                  {"checks", Json::array()}});
  CHECK(json.dump() == R"({
  "schema": "qkv.trace/1",
  "config": {"heads": 2},
  "dims": ["B", "L"],
  "stages": [
    {"name": "q", "shape": [2, 4]},
    {"name": "k", "min": null}
  ],
  "checks": []
}
)");
  CHECK(Json::array({stages.items()[0]}).dump() ==
        "[\n  {\"name\": \"q\", \"shape\": [2, 4]}\n]\n");
  CHECK(Json::object().dump() == "{}\n");
}

TEST_CASE("json: values are found by key, in any nesting") {
  const Json json = Json::parse(R"({"a": {"b": [1.5, "x", false, null]}})", "x");
  const Json* b = json.find("a")->find("b");
  REQUIRE(b != nullptr);
  CHECK(b->items()[0].number() == 1.5);
  CHECK(b->items()[1].text() == "x");
  CHECK(b->items()[2].kind() == Json::Kind::boolean);
  CHECK_FALSE(b->items()[2].flag());
  CHECK(b->items()[3].kind() == Json::Kind::null);
  CHECK(json.find("b") == nullptr);
}

TEST_CASE("json: text that is no JSON is an error with line and column") {
  CHECK_THAT(error_of(""), Equals("not JSON (config.json, line 1, column 1): expected '[', '{', or "
                                  "a literal, got end of input"));
  CHECK_THAT(error_of("{\n  \"heads\": 2,\n}"),
             Equals("not JSON (config.json, line 3, column 1): expected string literal, got '}'"));
  CHECK_THAT(error_of("{\"a\": 1\n \"b\": 2}"),
             Equals("not JSON (config.json, line 2, column 4): expected '}', got string literal"));
  CHECK_THAT(error_of("{\"a\": NaN}"),
             Equals("not JSON (config.json, line 1, column 7): got invalid literal"));
  CHECK_THAT(error_of("[1] 2"), Equals("not JSON (config.json, line 1, column 5): expected end of "
                                       "input, got number literal"));
  CHECK_THAT(error_of("[1e999]"), Equals("not JSON (config.json, line 1, column 6): got number "
                                         "overflow parsing '1e999'"));
  CHECK_THAT(error_of("\"\xff\""), Equals("not JSON (config.json, line 1, column 2): got invalid "
                                          "string: ill-formed UTF-8 byte"));
}

TEST_CASE("json: a key that comes twice in one object is an error, in two objects it is none") {
  CHECK_THAT(error_of(R"({"a": 1, "b": 2, "a": 3})"),
             Equals("not JSON: the key \"a\" comes twice (config.json)"));
  CHECK(error_of(R"({"a": {"a": 1}, "b": [{"a": 1}, {"a": 2}]})").empty());
}

TEST_CASE("json: brackets without end are an error, not a stack overflow") {
  CHECK_THAT(error_of(std::string(1'000'000, '[')),
             Equals("JSON is nested too deeply (config.json): expected at most 256 levels"));
  CHECK(error_of(std::string(256, '[') + std::string(256, ']')).empty());
}

// JSON values in and out: the only file that knows the JSON library.
#include "qkv/base/json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "qkv/base/error.hpp"
#include "qkv/base/text.hpp"

namespace qkv {

namespace {

/// Json is destroyed level by level on the stack, so a hostile "[[[[..." must stop somewhere.
constexpr std::size_t deepest = 256;

struct Place {
  std::size_t line = 1;
  std::size_t column = 1;  ///< in bytes, from 1
};

Place place_of(std::string_view text, std::size_t position) {
  Place place;
  for (const char byte : text.substr(0, std::min(position, text.size()))) {
    ++place.column;
    if (byte == '\n') place = {.line = place.line + 1, .column = 1};
  }
  return place;
}

/// Builds a Json from the library's events, so that duplicate keys are seen and no second tree is
/// held.
class Builder : public nlohmann::json_sax<nlohmann::ordered_json> {
 public:
  Builder(std::string_view text, const std::string& where) : text_(text), where_(where) {}

  Json take() { return std::move(root_); }

  bool null() override { return put(Json()); }
  bool boolean(bool flag) override { return put(Json(flag)); }
  bool number_integer(number_integer_t number) override {
    const bool fits = number >= std::numeric_limits<int>::min() && number < 0;
    return put(fits ? Json(static_cast<int>(number)) : Json(static_cast<double>(number)));
  }
  bool number_unsigned(number_unsigned_t number) override {
    return put(Json(static_cast<std::size_t>(number)));
  }
  bool number_float(number_float_t number, const string_t&) override { return put(Json(number)); }
  bool string(string_t& text) override { return put(Json(std::move(text))); }
  bool binary(binary_t&) override { return false; }  // JSON text has none

  bool start_object(std::size_t) override { return open(Json::object()); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override {
    if (!levels_.back().keys.insert(name).second) {
      throw Error(Complaint{.what = "not JSON: the key \"" + escaped(name) + "\" comes twice",
                            .where = where_});
    }
    levels_.back().key = std::move(name);
    return true;
  }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::json::exception& exception) override {
    // The position is that of the byte after the offending one. The library's text reads
    // "[id] parse error at line 1, column 3: syntax error while parsing value - REASON; last read:
    // 'x'; expected Y"; the reason is what a user can act on.
    std::string reason = exception.what();
    const std::size_t dash = reason.find(" - ");
    if (dash != std::string::npos) {
      reason.erase(0, dash + 3);
    } else if (const std::size_t bracket = reason.find("] "); bracket != std::string::npos) {
      reason.erase(0, bracket + 2);
    }
    std::string expected;
    if (const std::size_t at = reason.find("; expected "); at != std::string::npos) {
      expected = reason.substr(at + 11);
      reason.erase(at);
    }
    // What follows is the text since the last value, which the line and column say better.
    reason.erase(std::min(reason.find("; last read"), reason.size()));
    if (reason.rfind("unexpected ", 0) == 0) reason.erase(0, 11);
    const Place place = place_of(text_, position == 0 ? 0 : position - 1);
    throw Error(
        Complaint{.what = "not JSON",
                  .where = fmt::format("{}, line {}, column {}", where_, place.line, place.column),
                  .expected = escaped(expected),
                  .got = escaped(reason)});
  }

 private:
  struct Level {
    Json value;
    std::string key = {};                       ///< of the member that comes next
    std::unordered_set<std::string> keys = {};  ///< seen so far in this object
  };

  bool open(Json container) {
    if (levels_.size() >= deepest) {
      throw Error(Complaint{.what = "JSON is nested too deeply",
                            .where = where_,
                            .expected = fmt::format("at most {} levels", deepest)});
    }
    levels_.push_back({.value = std::move(container)});
    return true;
  }
  bool close() {
    Json done = std::move(levels_.back().value);
    levels_.pop_back();
    return put(std::move(done));
  }
  bool put(Json value) {
    if (levels_.empty()) {
      root_ = std::move(value);
    } else if (Level& level = levels_.back(); level.value.kind() == Json::Kind::array) {
      level.value.push(std::move(value));
    } else {
      level.value.add(std::move(level.key), std::move(value));
    }
    return true;
  }

  std::string_view text_;
  const std::string& where_;
  std::vector<Level> levels_ = {};
  Json root_ = {};
};

std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string number_as_json(double value, bool whole) {
  if (!std::isfinite(value)) return "null";
  if (whole) return fmt::format("{:.0f}", value);
  std::string text = number_text(value);
  if (text.find_first_not_of("-0123456789") == std::string::npos) text += ".0";
  return text;
}

bool holds_others(const Json& array) {
  return std::any_of(array.items().begin(), array.items().end(), [](const Json& item) {
    return item.kind() == Json::Kind::array || item.kind() == Json::Kind::object;
  });
}

}  // namespace

Json Json::array(std::vector<Json> items) {
  Json json;
  json.kind_ = Kind::array;
  json.items_ = std::move(items);
  return json;
}

Json Json::object(std::vector<std::pair<std::string, Json>> members) {
  Json json;
  json.kind_ = Kind::object;
  json.members_ = std::move(members);
  return json;
}

const Json* Json::find(std::string_view key) const {
  for (const auto& [name, value] : members_) {
    if (name == key) return &value;
  }
  return nullptr;
}

Json& Json::add(std::string key, Json value) {
  members_.emplace_back(std::move(key), std::move(value));
  return *this;
}

Json& Json::push(Json value) {
  items_.push_back(std::move(value));
  return *this;
}

std::string Json::dump(bool pretty) const {
  // Levels 0 (the document) and 1 (an array in it that holds more than scalars) take a line an item
  // where `pretty`; deeper values stay on their line.
  struct Writer {
    bool pretty;
    std::string text = {};

    void write(const Json& json, std::size_t level) {
      switch (json.kind()) {
        case Kind::null:
          text += "null";
          return;
        case Kind::boolean:
          text += json.flag() ? "true" : "false";
          return;
        case Kind::number:
          text += number_as_json(json.number(), json.whole_);
          return;
        case Kind::text:
          text += quoted(json.text());
          return;
        case Kind::array: {
          const bool lines = pretty && level < 2 && holds_others(json);
          text += '[';
          for (std::size_t i = 0; i < json.items().size(); ++i) {
            separate(i, lines, level);
            write(json.items()[i], level + 1);
          }
          end(']', lines, level);
          return;
        }
        case Kind::object: {
          const bool lines = pretty && level == 0 && !json.members().empty();
          text += '{';
          for (std::size_t i = 0; i < json.members().size(); ++i) {
            separate(i, lines, level);
            text += quoted(json.members()[i].first);
            text += pretty ? ": " : ":";
            write(json.members()[i].second, level + 1);
          }
          end('}', lines, level);
          return;
        }
      }
    }
    void separate(std::size_t i, bool lines, std::size_t level) {
      if (i > 0) text += pretty && !lines ? ", " : ",";
      if (lines) text.append(1, '\n').append(2 * level + 2, ' ');
    }
    void end(char bracket, bool lines, std::size_t level) {
      if (lines) text.append(1, '\n').append(2 * level, ' ');
      text += bracket;
    }
  };
  Writer writer{.pretty = pretty};
  writer.write(*this, 0);
  return std::move(writer.text) + '\n';
}

Json Json::parse(std::string_view text, const std::string& where) {
  Builder builder(text, where);
  nlohmann::ordered_json::sax_parse(text.begin(), text.end(), &builder);
  return builder.take();
}

}  // namespace qkv

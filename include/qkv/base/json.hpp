// JSON values in and out, over the one library that reads and writes them.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace qkv {

/// A JSON value with insertion-ordered object keys. Non-finite numbers are written as null: JSON
/// has none.
class Json {
 public:
  enum class Kind { null, boolean, number, text, array, object };

  Json() = default;  // null
  Json(bool flag) : kind_(Kind::boolean), flag_(flag) {}
  Json(double number) : kind_(Kind::number), number_(number) {}
  Json(std::size_t number)
      : kind_(Kind::number), number_(static_cast<double>(number)), whole_(true) {}
  Json(int number) : kind_(Kind::number), number_(number), whole_(true) {}
  Json(std::string text) : kind_(Kind::text), text_(std::move(text)) {}
  Json(std::string_view text) : Json(std::string(text)) {}
  Json(const char* text) : Json(std::string(text)) {}
  static Json array(std::vector<Json> items = {});
  static Json object(std::vector<std::pair<std::string, Json>> members = {});

  Kind kind() const { return kind_; }
  bool flag() const { return flag_; }
  double number() const { return number_; }
  const std::string& text() const { return text_; }
  const std::vector<Json>& items() const { return items_; }
  const std::vector<std::pair<std::string, Json>>& members() const { return members_; }
  const Json* find(std::string_view key) const;  ///< a member of an object, or none

  Json& add(std::string key, Json value);  ///< a member more; returns *this
  Json& push(Json value);                  ///< an item more

  /// One document on one line per top-level array item where `pretty`, ended by a newline.
  std::string dump(bool pretty = true) const;

  /// throws  Error "not JSON" calling the source `where`, with line and column
  static Json parse(std::string_view text, const std::string& where);

 private:
  Kind kind_ = Kind::null;
  bool flag_ = false;
  double number_ = 0;
  bool whole_ = false;  ///< written without a fraction
  std::string text_;
  std::vector<Json> items_;
  std::vector<std::pair<std::string, Json>> members_;
};

}  // namespace qkv

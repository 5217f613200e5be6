// JSON parts: values that the JSON reports share.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "qkv/base/json.hpp"
#include "qkv/report/report.hpp"
#include "qkv/tensor/stats.hpp"

namespace qkv {

template <class Item>
Json json_array(const std::vector<Item>& items) {
  Json array = Json::array();
  for (const Item& item : items) array.push(Json(item));
  return array;
}

inline Json json_or_null(const std::optional<double>& number) {
  return number ? Json(*number) : Json();
}

inline Json json_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

/// Without a fraction where the number has none: 12, not 12.0.
inline Json json_number(double number) {
  constexpr double exact = 0x1p53;
  if (number >= 0 && number <= exact && std::floor(number) == number)
    return Json(static_cast<std::size_t>(number));
  return Json(number);
}

/// "min" ... "neg_inf"; NaN, where there is no finite value, becomes null.
inline void add_stats(Json& object, const Stats& stats) {
  object.add("min", stats.min).add("max", stats.max).add("mean", stats.mean).add("std", stats.std);
  object.add("nan", stats.nan).add("pos_inf", stats.pos_inf).add("neg_inf", stats.neg_inf);
}

/// The object "config" of every report.
Json config_json(const std::vector<ConfigEntry>& entries);

/// One item of "stages".
Json stage_json(const StageRow& row);

/// One item of "checks".
Json check_json(const CheckResult& check);

/// The object "fast" of run.
Json fast_json(const FastReport& fast);

/// Configuration, stages, checks and their verdict: all that trace and check have to say.
Json checked_json(std::string_view schema, const TraceReport& report);

}  // namespace qkv

// The goldens of tests/data/make_text.py, and how an Error is told.
#pragma once

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "qkv/base/error.hpp"
#include "qkv/base/json.hpp"

namespace qkv::test {

inline const Json& golden_text(const char* key) {
  static const Json golden = [] {
    const std::string path = QKV_TEST_DATA "/text/golden.json";
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    return Json::parse(text.str(), path);
  }();
  return *golden.find(key);
}

inline std::vector<std::string> strings(const Json& list) {
  std::vector<std::string> result;
  for (const Json& item : list.items()) result.push_back(item.text());
  return result;
}

inline std::vector<double> numbers(const Json& list) {
  std::vector<double> result;
  for (const Json& item : list.items()) result.push_back(item.number());
  return result;
}

inline std::vector<std::size_t> counts(const Json& list) {
  std::vector<std::size_t> result;
  for (const Json& item : list.items()) result.push_back(static_cast<std::size_t>(item.number()));
  return result;
}

/// The first line and the hint of the Error that a step ends with, "" where it ends without.
template <class Step>
std::string told(Step&& step) {
  try {
    step();
  } catch (const Error& error) {
    const Complaint& complaint = error.complaints().front();
    return text(complaint) + (complaint.hint.empty() ? "" : "\nhint: " + complaint.hint);
  }
  return "";
}

}  // namespace qkv::test

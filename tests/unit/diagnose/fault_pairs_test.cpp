// Programs that make two mistakes at once (tests/data/make_fault_pairs.py), through the program:
// diagnose names both.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <iostream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "qkv/base/json.hpp"
#include "support/program.hpp"

namespace qkv::test {

namespace {

const std::string data = QKV_TEST_DATA;

using Ids = std::set<std::string>;

Json read_json(const std::string& path) {
  std::ifstream file(path);
  return Json::parse(std::string(std::istreambuf_iterator<char>(file), {}), path);
}

Ids ids_of(const Json& list) {
  Ids ids;
  for (const Json& item : list.items()) ids.insert(item.text());
  return ids;
}

std::vector<std::string> arguments(const Json& entry, bool all_stages) {
  const std::string file = data + "/fault_pairs/" + entry.find("file")->text();
  std::vector<std::string> words = {"diagnose", data + "/faults/" + entry.find("config")->text(),
                                    "--json", "-q"};
  if (all_stages) {
    words.insert(words.end(), {"--got", file});
  } else {
    words.insert(words.end(), {"--got-attn", file + ":attn", "--got-out", file + ":out"});
  }
  return words;
}

/// The faults that diagnose names.
Ids found_by(const std::vector<std::string>& words) {
  const Ended ended = run_program(words);
  INFO(command_line(words) << "\n" << ended.err);
  REQUIRE(ended.status == 1);
  Ids found;
  const Json report = Json::parse(ended.out, "stdout");
  for (const Json& fault : report.find("faults")->items()) found.insert(fault.find("id")->text());
  return found;
}

/// Both are named and nothing else, or another two that make exactly these tensors.
bool named(const Ids& found, const Json& entry, const char* view) {
  if (found == ids_of(*entry.find("faults"))) return true;
  const auto& others = entry.find("same_as")->find(view)->items();
  return std::ranges::any_of(others, [&](const Json& other) { return found == ids_of(other); });
}

std::size_t judge(bool all_stages) {
  const char* view = all_stages ? "all" : "attn_out";
  std::size_t right = 0, total = 0;
  const Json manifest = read_json(data + "/fault_pairs/manifest.json");
  for (const Json& entry : manifest.items()) {
    const Ids found = found_by(arguments(entry, all_stages));
    ++total;
    if (named(found, entry, view)) {
      ++right;
      continue;
    }
    std::string got;
    for (const std::string& id : found) got += " " + id;
    std::cout << fmt::format("wrong  {}: got{}\n", entry.find("file")->text(), got);
  }
  std::cout << fmt::format("{}: both named in {} of {}\n", view, right, total);
  CHECK(total >= 60);
  return total - right;
}

}  // namespace

TEST_CASE("diagnose: with all stages given both of two mistakes are named") {
  CHECK(judge(true) == 0);
}

TEST_CASE("diagnose: with attn and out given both of two mistakes are named") {
  CHECK(judge(false) == 0);
}

}  // namespace qkv::test

// Every mistake that the scripts in tests/data/faults make on purpose, through the program:
// diagnose names it.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "qkv/base/json.hpp"
#include "support/program.hpp"

namespace qkv::test {

namespace {

const std::string folder = std::string(QKV_TEST_DATA) + "/faults/";

Json read_json(const std::string& path) {
  std::ifstream file(path);
  return Json::parse(std::string(std::istreambuf_iterator<char>(file), {}), path);
}

std::vector<std::string> texts(const Json* list) {
  std::vector<std::string> all;
  if (list == nullptr) return all;
  for (const Json& item : list->items()) all.push_back(item.text());
  return all;
}

bool contains(const std::vector<std::string>& list, const std::string& word) {
  return std::ranges::find(list, word) != list.end();
}

/// Which of the planted stages the user hands in.
enum class Subset { all, attn_and_out, out };

const char* name(Subset subset) {
  return subset == Subset::all ? "all" : subset == Subset::attn_and_out ? "attn_out" : "out";
}

/// The command line for one planted run; empty where it has none of the stages of the subset.
std::vector<std::string> arguments(const Json& entry, Subset subset) {
  const std::string file = folder + entry.find("file")->text();
  std::vector<std::string> words = {"diagnose", folder + entry.find("config")->text(), "--json",
                                    "-q"};
  if (subset == Subset::all) {
    words.insert(words.end(), {"--got", file});
    return words;
  }
  bool any = false;
  for (const std::string& stage : texts(entry.find("stages"))) {
    if (stage != "out" && !(stage == "attn" && subset == Subset::attn_and_out)) continue;
    words.insert(words.end(), {"--got-" + stage, file + ":" + stage});
    any = true;
  }
  return any ? words : std::vector<std::string>{};
}

/// The environment may ask for each n-th run only: sanitizers are slow.
std::size_t each() {
  const char* text = std::getenv("QKV_TEST_EACH");
  return text == nullptr ? 1 : std::max<std::size_t>(1, std::strtoul(text, nullptr, 10));
}

struct Score {
  std::size_t right = 0, total = 0;
};

struct Table {
  std::map<std::string, Score> by_fault;
  std::vector<std::string> wrong;
  Score sum() const {
    Score all;
    for (const auto& [fault, score] : by_fault) {
      all.right += score.right;
      all.total += score.total;
    }
    return all;
  }
};

/// Named first, or tied with a mistake that truly makes the same tensors of this subset.
bool named(const Json& report, const std::string& fault, const std::vector<std::string>& same) {
  const auto& faults = report.find("faults")->items();
  if (faults.empty()) return false;
  const std::string first = faults.front().find("id")->text();
  return first == fault || contains(same, first);
}

Table judge(Subset subset) {
  Table table;
  const Json manifest = read_json(folder + "manifest.json");
  std::size_t place = 0;
  for (const Json& entry : manifest.items()) {
    if (place++ % each() != 0) continue;
    if (entry.find("fault")->kind() != Json::Kind::text) continue;
    if (contains(texts(entry.find("right_in")), name(subset)))
      continue;  // the numbers are right: nothing to name
    const std::vector<std::string> words = arguments(entry, subset);
    if (words.empty()) continue;
    const std::string fault = entry.find("fault")->text();
    const Ended ended = run_program(words);
    Score& score = table.by_fault[fault];
    ++score.total;
    const bool judged = ended.status == 1;
    const Json report = judged ? Json::parse(ended.out, "stdout") : Json();
    if (judged && named(report, fault, texts(entry.find("same_as")->find(name(subset))))) {
      ++score.right;
      continue;
    }
    std::string got = judged ? "no fault" : fmt::format("exit {} {}", ended.status, ended.err);
    if (judged && !report.find("faults")->items().empty())
      got = report.find("faults")->items().front().find("id")->text();
    table.wrong.push_back(fmt::format("{}: got {}", entry.find("file")->text(), got));
  }
  for (const auto& [fault, score] : table.by_fault)
    std::cout << fmt::format("{:<22} {:>3} of {:>3}\n", fault, score.right, score.total);
  for (const std::string& line : table.wrong) std::cout << "wrong  " << line << '\n';
  std::cout << fmt::format("{}: {} of {}\n", name(subset), table.sum().right, table.sum().total);
  return table;
}

}  // namespace

TEST_CASE("diagnose: with all stages given every planted mistake is named first") {
  const Table table = judge(Subset::all);
  CHECK(table.sum().total * each() > 900);
  CHECK(table.wrong.empty());
}

TEST_CASE("diagnose: with attn and out given 95 of 100 planted mistakes are named first") {
  const Score sum = judge(Subset::attn_and_out).sum();
  CHECK(sum.total * each() > 900);
  CHECK(sum.right * 100 >= sum.total * 95);
}

TEST_CASE("diagnose: with out alone given 85 of 100 planted mistakes are named first") {
  const Score sum = judge(Subset::out).sum();
  CHECK(sum.total * each() > 800);
  CHECK(sum.right * 100 >= sum.total * 85);
}

TEST_CASE("diagnose: right runs of other programs and precisions raise no alarm") {
  const Json manifest = read_json(folder + "manifest.json");
  std::size_t runs = 0;
  std::size_t place = 0;
  for (const Json& entry : manifest.items()) {
    if (place++ % each() != 0) continue;
    if (entry.find("fault")->kind() == Json::Kind::text) continue;
    for (const Subset subset : {Subset::all, Subset::attn_and_out, Subset::out}) {
      const Ended ended = run_program(arguments(entry, subset));
      INFO(entry.find("file")->text() << " " << name(subset) << "\n" << ended.out << ended.err);
      CHECK(ended.status == 0);
      ++runs;
    }
  }
  CHECK(runs * each() > 200);
}

}  // namespace qkv::test

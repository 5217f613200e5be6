// One run of qkv check on weights that people published, and what it says of them.
#include "support/check_run.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "qkv/io/write.hpp"
#include "support/arrays.hpp"

namespace qkv::test {

CheckRun& CheckRun::give(const std::string& flag, const Shape& shape,
                         const std::vector<double>& numbers, DType dtype) {
  const std::string path = folder_ / (flag + ".npy");
  write_npy(path, array_of(shape, numbers, dtype).array);
  words_.insert(words_.end(), {"--" + flag, path});
  return *this;
}

CheckRun& CheckRun::rounded_by_type() {
  words_.clear();
  return *this;
}

CheckRun& CheckRun::say(const Words& words) {
  words_.insert(words_.end(), words.begin(), words.end());
  return *this;
}

int CheckRun::run() {
  Words all = {"check", "--json"};
  all.insert(all.end(), words_.begin(), words_.end());
  ended_ = run_program(all);
  if (!ended_.out.empty()) document_ = Json::parse(ended_.out, "stdout");
  INFO(command_line(all) << "\n" << ended_.err);
  return ended_.status;
}

Words CheckRun::with_status(const std::string& status) const {
  Words ids;
  for (const Json& check : document_.find("checks")->items()) {
    if (check.find("status")->text() == status) ids.push_back(check.find("id")->text());
  }
  return ids;
}

std::string CheckRun::said(const std::string& id) const {
  for (const Json& check : document_.find("checks")->items()) {
    if (check.find("id")->text() != id) continue;
    const Json* hint = check.find("hint");
    return check.find("message")->text() +
           (hint->kind() == Json::Kind::text ? "; " + hint->text() : "");
  }
  return {};
}

bool CheckRun::says(const std::string& id, const std::string& words) const {
  return said(id).find(words) != std::string::npos;
}

bool CheckRun::holds(const Words& list, const std::string& word) {
  return std::ranges::find(list, word) != list.end();
}

}  // namespace qkv::test

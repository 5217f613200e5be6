// The names of the tensors in a file, in errors.
#include "io/names.hpp"

#include <algorithm>

#include "qkv/base/error.hpp"
#include "qkv/base/text.hpp"

namespace qkv {

namespace {

constexpr std::size_t most_listed = 10;

/// How much of `name` a candidate has: all of it inside (the shorter, the better), else what they
/// share at both ends.
std::size_t likeness(std::string_view name, std::string_view candidate) {
  if (candidate.find(name) != std::string_view::npos) {
    return (std::size_t{1} << 32) - candidate.size();
  }
  const auto start = std::mismatch(name.begin(), name.end(), candidate.begin(), candidate.end());
  const auto end = std::mismatch(name.rbegin(), name.rend(), candidate.rbegin(), candidate.rend());
  return static_cast<std::size_t>((start.first - name.begin()) + (end.first - name.rbegin()));
}

std::string some_of(const std::vector<std::string>& names) {
  std::vector<std::string> shown;
  for (std::size_t i = 0; i < std::min(names.size(), most_listed); ++i) {
    shown.push_back(escaped(names[i]));
  }
  if (names.size() <= most_listed) return listed(shown, "or");
  shown.push_back("one of " + std::to_string(names.size() - most_listed) + " others");
  return listed(shown, "or");
}

}  // namespace

void no_such_tensor(std::string_view name, const std::vector<std::string>& names,
                    const std::string& where) {
  std::vector<std::string> sorted = names;
  if (sorted.size() > most_listed) {
    std::stable_sort(sorted.begin(), sorted.end(), [&](const auto& left, const auto& right) {
      return likeness(name, left) > likeness(name, right);
    });
  }
  const std::string near = nearest(name, names);
  throw Error(
      Complaint{.what = "no such tensor",
                .where = where + ":" + escaped(name),
                .expected = names.empty() ? "any, but the file holds none" : some_of(sorted),
                .hint = near.empty() ? "" : "did you mean " + escaped(near) + "?"});
}

const std::string& only_tensor(const std::vector<std::string>& names, const std::string& where) {
  if (names.size() == 1) return names.front();
  if (names.empty()) throw Error(Complaint{.what = "the file holds no tensor", .where = where});
  throw Error(Complaint{.what = "which tensor of the file?",
                        .where = where,
                        .expected = where + ":NAME with the name " + some_of(names),
                        .got = "no name"});
}

}  // namespace qkv

// yours(): the beginning of a message, in terms of a tensor that the user gave.
#include "yours.hpp"

namespace qkv::faults {

namespace {

/// The first given stage after this one, "" for none.
std::string first_later(const Case& the_case, const std::string& stage) {
  bool later = false;
  for (const StageShape& next : the_case.stages) {
    if (later && the_case.got.contains(next.id)) return next.id;
    later = later || next.id == stage;
  }
  return {};
}

}  // namespace

std::string yours(const Case& the_case, const std::string& stage) {
  if (the_case.got.contains(stage)) return "your " + stage + " is";
  const std::string later = first_later(the_case, stage);
  return later.empty() ? "your " + stage + " is" : "your " + later + " comes from";
}

bool gave_later(const Case& the_case, const std::string& stage) {
  return !first_later(the_case, stage).empty();
}

}  // namespace qkv::faults

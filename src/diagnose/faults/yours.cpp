// yours(): the beginning of a message, in terms of a tensor that the user gave.
#include "yours.hpp"

namespace qkv::faults {

std::string first_after(const Case& the_case, const std::string& stage) {
  bool later = false;
  for (const StageShape& next : the_case.stages) {
    if (later && the_case.got.contains(next.id)) return next.id;
    later = later || next.id == stage;
  }
  return {};
}

std::string yours(const Case& the_case, const std::string& stage) {
  if (the_case.got.contains(stage)) return "your " + stage + " is";
  const std::string later = first_after(the_case, stage);
  return later.empty() ? "your " + stage + " is" : "your " + later + " comes from";
}

bool gave_later(const Case& the_case, const std::string& stage) {
  return !first_after(the_case, stage).empty();
}

}  // namespace qkv::faults

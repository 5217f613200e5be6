// follow(): every stage as the step before it makes it from the user's own stages.
#include "follow.hpp"

#include "qkv/attention/pipeline.hpp"

namespace qkv::faults {

namespace {

/// Ends the computation early: what was wanted has been made.
struct Enough {};

Followed follow_problem(const Case& the_case, const Problem<double>& problem,
                        const std::vector<ChangedStage>& edits, std::string_view last) {
  Followed followed{.held = Held(problem)};
  Held& held = followed.held;
  const auto on_stage = [&](std::string_view stage, Tensor<double, 4>& value) {
    const std::string id(stage);
    for (const ChangedStage& change : edits) {
      const bool in_place_of_heads = change.stage == "heads" && id == "out" && !held.has("heads");
      if (change.stage == id || in_place_of_heads) value = change.edit(held, value);
    }
    followed.made[id] = value;
    const Tensor<double, 4>* own = given(the_case, id);
    if (own != nullptr && own->sizes() == value.sizes()) value = *own;
    held.set(id, value);
    if (stage == last) throw Enough{};
  };
  try {
    attend<double>(problem, on_stage);
  } catch (const Enough&) {
  }
  return followed;
}

}  // namespace

Followed follow(const Case& the_case, const Alteration& alteration, std::string_view last) {
  return follow_problem(the_case, alteration.problem, alteration.edits, last);
}

Followed follow(const Case& the_case, std::string_view last) {
  return follow_problem(the_case, the_case.problem, {}, last);
}

const Tensor<double, 4>* given(const Case& the_case, const std::string& id) {
  const auto found = the_case.got.find(id);
  if (found == the_case.got.end() || !found->second.fits || found->second.value.empty())
    return nullptr;
  return &found->second.value;
}

}  // namespace qkv::faults

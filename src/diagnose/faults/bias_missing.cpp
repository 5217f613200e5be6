// Fault bias-missing: a bias that was given is not added.
#include "diagnose/faults.hpp"
#include "diagnose/faults/roles.hpp"
#include "qkv/base/text.hpp"

namespace qkv::faults {

namespace {

Variant variant(const Case& the_case, const std::vector<Role>& roles) {
  Variant made;
  made.apply = [roles](Alteration& a) {
    for (const Role& role : roles) (a.problem.*role.linear).bias = {};
  };
  std::vector<std::string> stages, biases;
  for (const Role& role : roles) {
    stages.emplace_back(role.stage);
    biases.emplace_back(role.bias);
  }
  made.message = "your " + listed(stages) + (roles.size() == 1 ? " is " : " are made ") +
                 (roles.size() == 1 ? product_text(the_case, roles.front()) + " " : "") +
                 "without " + listed(biases);
  // A constant on all scores of a row leaves its softmax as it is.
  const bool key_alone = roles.size() == 1 && roles.front().linear == projections[1].linear;
  if (key_alone && !the_case.problem.settings.rope_base)
    made.message += ", which shifts whole rows of scores and changes nothing after the softmax";
  made.fix = "add " + listed(biases) + " to " + listed(stages);
  return made;
}

}  // namespace

std::vector<Variant> bias_missing(const Case& the_case) {
  const Problem<double>& problem = the_case.problem;
  std::vector<Role> given;
  if (problem.sizes.projects) {
    for (const Role& role : projections) {
      if (!(problem.*role.linear).bias.empty()) given.push_back(role);
    }
  }
  const bool has_bo = !problem.output.bias.empty();
  std::vector<Variant> variants;
  if (has_bo && !given.empty()) {
    std::vector<Role> all = given;
    all.push_back(output_map);
    variants.push_back(variant(the_case, all));
  }
  for (const std::vector<std::size_t>& set : subsets(given.size())) {
    std::vector<Role> roles;
    for (const std::size_t n : set) roles.push_back(given[n]);
    variants.push_back(variant(the_case, roles));
  }
  if (has_bo) variants.push_back(variant(the_case, {output_map}));
  return variants;
}

}  // namespace qkv::faults

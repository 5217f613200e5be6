// Fault weight-transposed: x·Wᵀ where x·W was meant, or the other way round.
#include "diagnose/faults.hpp"
#include "diagnose/faults/fused_columns.hpp"
#include "diagnose/faults/roles.hpp"
#include "qkv/base/text.hpp"

namespace qkv::faults {

namespace {

bool square(const Linear<double>& linear) { return linear.in() == linear.out(); }

/// How to store or use the weights so that the orientation is right.
std::string fix_for(const Case& the_case, const std::vector<Role>& roles) {
  const bool in_out = (the_case.problem.*roles.front().linear).order == WeightOrder::in_out;
  std::vector<std::string> names, products;
  for (const Role& role : roles) {
    names.emplace_back(role.weight);
    products.push_back(product_text(the_case, role));
  }
  std::string fix = "transpose " + listed(names) + " once more: " + listed(products);
  if (roles.size() >= projections.size()) {
    fix += std::string("; if your code is right and the files hold the weights as ") +
           (in_out ? "nn.Linear does, say --weight-order out-in"
                   : "in-out matrices, say --weight-order in-out");
  }
  return fix;
}

Variant variant(const Case& the_case, const std::vector<Role>& roles) {
  Variant made;
  made.apply = [roles](Alteration& a) {
    for (const Role& role : roles) turn_weight(a.problem.*role.linear);
  };
  if (roles.size() == 1) {
    const Role& role = roles.front();
    made.message = square(the_case.problem.*role.linear)
                       ? std::string("your ") + role.stage + " is " +
                             product_text(the_case, role, true) + ", not " +
                             product_text(the_case, role)
                       : std::string("your ") + role.stage + " takes the memory of " + role.weight +
                             " for the transposed matrix";
  } else {
    std::vector<std::string> stages, weights;
    for (const Role& role : roles) {
      stages.emplace_back(role.stage);
      weights.emplace_back(role.weight);
    }
    made.message = "your " + listed(stages) + " are made with " + listed(weights) +
                   " in the other orientation";
  }
  made.fix = fix_for(the_case, roles);
  return made;
}

/// The whole fused matrix in the other orientation, where that is not the same as its three parts.
Variant fused_variant(const Case& the_case, const Linear<double>& fused) {
  const std::vector<FusedColumn> columns =
      fused_columns(the_case.problem.sizes, the_case.problem.settings.qkv_order);
  Variant made;
  made.apply = [fused, columns](Alteration& a) {
    Linear<double> turned = fused;
    turn_weight(turned);
    read_fused_weight(turned, columns, a.problem);
  };
  made.message = "your q, k and v take the memory of wqkv for the transposed matrix";
  made.fix = "read wqkv as " + shape_text({fused.weight.size(0), fused.weight.size(1)}) +
             (fused.order == WeightOrder::in_out ? ", x·Wqkv" : ", x·Wqkvᵀ");
  return made;
}

}  // namespace

std::vector<Variant> weight_transposed(const Case& the_case) {
  const Problem<double>& problem = the_case.problem;
  if (!problem.sizes.projects) return {};
  const bool fused = the_case.inputs->wqkv.has_value();
  // The parts of a fused matrix do not lie together in memory: only square ones can be transposed.
  const auto can_turn = [&](const std::vector<Role>& roles) {
    for (const Role& role : roles) {
      if (fused && !square(problem.*role.linear)) return false;
    }
    return true;
  };

  std::vector<Variant> variants;
  for (const std::vector<std::size_t>& set : subsets(projections.size())) {
    std::vector<Role> roles;
    for (const std::size_t n : set) roles.push_back(projections[n]);
    if (!can_turn(roles)) continue;
    variants.push_back(variant(the_case, roles));
    if (roles.size() < projections.size() || !problem.sizes.has_wo) continue;
    roles.push_back(output_map);
    variants.push_back(variant(the_case, roles));
  }
  if (fused) variants.push_back(fused_variant(the_case, fused_weight(the_case)));
  return variants;
}

}  // namespace qkv::faults

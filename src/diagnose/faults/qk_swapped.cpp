// Fault qk-swapped: queries and keys are exchanged.
#include <utility>

#include "diagnose/faults.hpp"
#include "diagnose/faults/rearrange.hpp"
#include "diagnose/faults/roles.hpp"
#include "qkv/attention/project.hpp"
#include "qkv/attention/split_heads.hpp"

namespace qkv::faults {

namespace {

/// Makes a stage from the other sequence with its own weight.
StageEdit from_source(const std::string& source, const Role& role) {
  return [source, &role](const Held& held, const Tensor<double, 4>& right) {
    const Tensor<double, 4>& x = held.at(source);
    const auto wide =
        project(x.reshaped<3>({x.size(0), x.size(2), x.size(3)}), held.problem().*role.linear);
    return split_heads(wide, right.size(1));
  };
}

}  // namespace

std::vector<Variant> qk_swapped(const Case& the_case) {
  const Problem<double>& problem = the_case.problem;
  const Sizes& sizes = problem.sizes;
  std::vector<Variant> variants;
  if (sizes.L == sizes.S) {
    variants.push_back({[](Alteration& a) { a.move("scores", exchange_last_axes); },
                        "your scores are k·qᵀ: queries and keys are exchanged",
                        "multiply q with k transposed, unless the exchange is meant"});
  }
  // A fused weight whose q and k columns change places is read in another order: fused-qkv-order.
  const bool fused = the_case.inputs != nullptr && the_case.inputs->wqkv;
  if (sizes.projects && !fused && problem.query.in() == problem.key.in() && sizes.H == sizes.G) {
    variants.push_back({[](Alteration& a) { std::swap(a.problem.query, a.problem.key); },
                        "your q is made with wk and your k with wq",
                        "exchange wq and wk, unless the exchange is meant"});
  }
  if (!sizes.projects && problem.q.sizes() == problem.k.sizes()) {
    variants.push_back({[](Alteration& a) { std::swap(a.problem.q, a.problem.k); },
                        "your q is k, and your k is q",
                        "exchange q and k, unless the exchange is meant"});
  }
  if (sizes.has_context && sizes.L == sizes.new_keys() && sizes.E == sizes.E_context) {
    variants.push_back({[](Alteration& a) {
                          a.edit("q", from_source("context", projections[0]));
                          a.edit("k", from_source("x", projections[1]));
                          a.edit("v", from_source("x", projections[2]));
                        },
                        "your q comes from the context, and your k and v from x",
                        "make q from x, and k and v from the context"});
  }
  return variants;
}

}  // namespace qkv::faults

// sink-missing: the learned logits take no part in the softmax.
#include "diagnose/faults.hpp"
#include "yours.hpp"

namespace qkv::faults {

std::vector<Variant> sink_missing(const Case& the_case) {
  const Problem<double>& problem = the_case.problem;
  if (problem.sinks.empty()) return {};
  const std::string fix =
      "let exp(sink - m) take part in the sum of each row, with m at least the sink, and drop its "
      "column";
  std::vector<Variant> variants;
  variants.push_back({[](Alteration& a) { a.problem.sinks = {}; },
                      yours(the_case, "attn") + " a softmax without the sinks", fix});
  variants.push_back(
      {[](Alteration& a) { a.problem.sinks = Tensor<double, 1>::make(a.problem.sinks.sizes()); },
       yours(the_case, "attn") + " a softmax with sinks of 0, not the learned ones", fix});
  return variants;
}

}  // namespace qkv::faults

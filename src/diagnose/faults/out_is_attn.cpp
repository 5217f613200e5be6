// Fault out-is-attn: the weights are taken for the output.
#include "diagnose/faults.hpp"
#include "diagnose/faults/rearrange.hpp"
#include "qkv/attention/split_heads.hpp"

namespace qkv::faults {

namespace {

Tensor<double, 4> itself(const Tensor<double, 4>& attn) { return attn; }

}  // namespace

std::vector<Variant> out_is_attn(const Case& the_case) {
  const Sizes& sizes = the_case.problem.sizes;
  const bool blhd =
      sizes.rank_four && !sizes.has_wo && the_case.problem.settings.layout == Layout::blhd;
  std::vector<Variant> variants;
  variants.push_back({[](Alteration& a) { a.take("out", "attn", itself); },
                      "your out is attn, the weights", "multiply attn with v"});
  if (sizes.H > 1) {
    variants.push_back({[](Alteration& a) { a.take("out", "attn", mean_over_heads); },
                        "your out is attn, the weights, as their mean over the heads",
                        "take the first of the two results: the output, not the weights"});
  }
  if (blhd) {
    variants.push_back(
        {[](Alteration& a) { a.take("out", "attn", exchange_heads_and_length<double>); },
         "your out is attn, the weights, as (B,L,H,S)", "multiply attn with v"});
  }
  // The weights pass for heads only where they are as wide.
  if (sizes.S == sizes.Dv && the_case.has_stage("heads")) {
    variants.push_back({[](Alteration& a) { a.take("heads", "attn", itself); },
                        "your heads are attn: the weights never meet v", "multiply attn with v"});
  }
  return variants;
}

}  // namespace qkv::faults

// Fault layout-blhd: (B,H,L,D) is read as (B,L,H,D), so that each position attends over its heads.
#include <algorithm>

#include "diagnose/faults.hpp"
#include "diagnose/faults/rearrange.hpp"
#include "diagnose/faults/rotation.hpp"
#include "diagnose/faults/rules_over.hpp"
#include "qkv/attention/split_heads.hpp"

namespace qkv::faults {

namespace {

constexpr auto exchange = exchange_heads_and_length<double>;

/// The rotation before the axes were exchanged, by the positions that were meant.
StageEdit rotated_before(const std::string& stage, const Tensor<double, 2>& positions) {
  return [stage, positions](const Held& held, const Tensor<double, 4>&) {
    return exchange(rotated(held, exchange(held.unrotated(stage)), positions));
  };
}

struct Form {
  bool rotates_before;   ///< the rotation, if any, comes before the exchange
  bool shows_exchanged;  ///< the user's q, k, v and heads are (B,L,H,D), as they were inside
  bool merges_again;     ///< the heads are exchanged once more before they are merged
};

void exchange_axes(Alteration& a, const Form& form) {
  Problem<double>& problem = a.problem;
  const Sizes& sizes = problem.sizes;
  for (const char* stage : {"q", "k", "v"}) {
    a.move(stage, exchange);
    if (!form.shows_exchanged) a.show(stage, exchange, exchange);
  }
  if (problem.settings.qk_norm && !form.shows_exchanged) {
    a.show("q_norm", exchange, exchange);
    a.show("k_norm", exchange, exchange);
  }
  if (problem.settings.rope_base) {
    if (form.rotates_before) {
      a.edit("q_rope", rotated_before("q", problem.query_positions));
      a.edit("k_rope", rotated_before("k", problem.key_positions));
    }
    problem.query_positions = counted_positions(sizes.H, 0);
    problem.key_positions = counted_positions(sizes.G, 0);
    if (!form.shows_exchanged) {
      a.show("q_rope", exchange, exchange);
      a.show("k_rope", exchange, exchange);
    }
  }
  const bool to_the_end = problem.settings.causal_align == CausalAlign::end;
  const auto now = static_cast<long long>(sizes.G) - static_cast<long long>(sizes.H),
             was = static_cast<long long>(sizes.S) - static_cast<long long>(sizes.L);
  problem.visibility = rules_over(problem.visibility, sizes.B, sizes.L, sizes.H, sizes.G,
                                  to_the_end ? now - was : 0);
  a.move("heads", exchange);
  if (form.shows_exchanged) a.show("heads", exchange, exchange);
  if (form.merges_again) a.take("concat", "heads", viewed_as_merged);
}

}  // namespace

std::vector<Variant> layout_blhd(const Case& the_case) {
  const Problem<double>& problem = the_case.problem;
  const Sizes& sizes = problem.sizes;
  const bool has_head_axis = sizes.rank_four || sizes.H > 1;
  // L and S stand as query and key/value heads now.
  if (!has_head_axis || sizes.P > 0 || sizes.S == 0 || sizes.L % sizes.S != 0) return {};
  const bool square = sizes.H == sizes.L && sizes.G == sizes.S;
  if (has_shaped_rules(problem.visibility) && !square) return {};
  if (problem.query_positions.size(0) > 1) return {};

  const bool blhd = problem.settings.layout == Layout::blhd && sizes.rank_four;
  const std::string read = blhd ? "(B,L,H,D) as (B,H,L,D)" : "(B,H,L,D) as (B,L,H,D)";
  const std::string message = "your code reads " + read + ": each position attends over its " +
                              std::to_string(sizes.H) + (sizes.H == 1 ? " head" : " heads");
  const std::string fix = blhd ? "exchange axes 1 and 2 of q, k and v before the call, and of the "
                                 "result after it"
                               : "bring the length next to the width, (B,H,L,D), or exchange axes "
                                 "1 and 2 for a function that wants (B,L,H,D)";
  std::vector<Form> forms = {{true, false, false}};
  const bool rotates = problem.settings.rope_base.has_value();
  if (rotates) forms.push_back({false, false, false});
  if (the_case.has_stage("concat") && sizes.H > 1) {
    forms.push_back({true, false, true});
    if (rotates) forms.push_back({false, false, true});
  }
  const bool by_head = std::ranges::any_of(the_case.got, [](const auto& entry) {
    return entry.first != "concat" && entry.first != "out";
  });
  if (by_head) {
    for (std::size_t n = 0, count = forms.size(); n < count; ++n) {
      Form form = forms[n];
      form.shows_exchanged = true;
      forms.push_back(form);
    }
  }
  std::vector<Variant> variants;
  for (const Form& form : forms) {
    variants.push_back(
        {[form](Alteration& a) { exchange_axes(a, form); },
         message + (form.merges_again ? ", and exchanges the axes only at the end" : ""), fix});
  }
  return variants;
}

}  // namespace qkv::faults

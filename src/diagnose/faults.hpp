// The faults, one function a file: the ways in which each mistake can be made on a case.
#pragma once

#include <optional>
#include <vector>

#include "qkv/diagnose/diagnose.hpp"
#include "qkv/diagnose/fault.hpp"

namespace qkv::faults {

std::vector<Variant> softmax_axis(const Case& the_case);
std::vector<Variant> softmax_whole(const Case& the_case);
std::vector<Variant> softmax_twice(const Case& the_case);
std::vector<Variant> softmax_unstable(const Case& the_case);
std::vector<Variant> scores_scaled(const Case& the_case);
std::vector<Variant> scale_missing(const Case& the_case);
std::vector<Variant> scale_twice(const Case& the_case);
std::vector<Variant> scale_d_not_root(const Case& the_case);
std::vector<Variant> scale_inverted(const Case& the_case);
std::vector<Variant> scale_d_model(const Case& the_case);
std::vector<Variant> scale_heads(const Case& the_case);
std::vector<Variant> temperature(const Case& the_case);
std::vector<Variant> scale_other(const Case& the_case);
std::vector<Variant> scale_after_softmax(const Case& the_case);
std::vector<Variant> mask_missing(const Case& the_case);
std::vector<Variant> mask_inverted(const Case& the_case);
std::vector<Variant> mask_after_softmax(const Case& the_case);
std::vector<Variant> mask_multiplied(const Case& the_case);
std::vector<Variant> mask_bool_added(const Case& the_case);
std::vector<Variant> mask_scaled(const Case& the_case);
std::vector<Variant> mask_fill_small(const Case& the_case);
std::vector<Variant> mask_fill_overflow(const Case& the_case);
std::vector<Variant> mask_transposed(const Case& the_case);
std::vector<Variant> mask_axis(const Case& the_case);
std::vector<Variant> mask_head_order(const Case& the_case);
std::vector<Variant> padding_on_queries(const Case& the_case);
std::vector<Variant> causal_missing(const Case& the_case);
std::vector<Variant> causal_strict(const Case& the_case);
std::vector<Variant> causal_one_ahead(const Case& the_case);
std::vector<Variant> causal_reversed(const Case& the_case);
std::vector<Variant> causal_align(const Case& the_case);
std::vector<Variant> window_off_by_one(const Case& the_case);
std::vector<Variant> empty_rows_uniform(const Case& the_case);
std::vector<Variant> empty_rows_nan(const Case& the_case);
std::vector<Variant> empty_rows_unmasked(const Case& the_case);
std::vector<Variant> weight_transposed(const Case& the_case);
std::vector<Variant> bias_missing(const Case& the_case);
std::vector<Variant> bias_swapped(const Case& the_case);
std::vector<Variant> bias_extra(const Case& the_case);
std::vector<Variant> qkv_shared(const Case& the_case);
std::vector<Variant> fused_qkv_order(const Case& the_case);
std::vector<Variant> v_not_projected(const Case& the_case);
std::vector<Variant> qk_swapped(const Case& the_case);
std::vector<Variant> kv_swapped(const Case& the_case);
std::vector<Variant> not_transposed_k(const Case& the_case);
std::vector<Variant> attn_transposed(const Case& the_case);
std::vector<Variant> out_is_attn(const Case& the_case);
std::vector<Variant> out_proj_missing(const Case& the_case);
std::vector<Variant> out_proj_transposed(const Case& the_case);
std::vector<Variant> heads_not_split(const Case& the_case);
std::vector<Variant> heads_viewed(const Case& the_case);
std::vector<Variant> heads_merged_viewed(const Case& the_case);
std::vector<Variant> heads_order(const Case& the_case);
std::vector<Variant> heads_averaged(const Case& the_case);
std::vector<Variant> gqa_tiled(const Case& the_case);
std::vector<Variant> rope_missing(const Case& the_case);
std::vector<Variant> rope_style(const Case& the_case);
std::vector<Variant> rope_offset(const Case& the_case);
std::vector<Variant> rope_axis(const Case& the_case);
std::vector<Variant> rope_partial(const Case& the_case);
std::vector<Variant> rope_base(const Case& the_case);
std::vector<Variant> rope_on_v(const Case& the_case);
std::vector<Variant> rope_twice(const Case& the_case);
std::vector<Variant> batch_first(const Case& the_case);
std::vector<Variant> layout_blhd(const Case& the_case);
std::vector<Variant> softcap_missing(const Case& the_case);
std::vector<Variant> alibi_slope(const Case& the_case);
std::vector<Variant> sink_missing(const Case& the_case);
std::vector<Variant> qk_norm_missing(const Case& the_case);
std::vector<Variant> softcap_after_mask(const Case& the_case);
std::vector<Variant> overflow_f16(const Case& the_case);
std::vector<Variant> nan_behind_mask(const Case& the_case);
std::vector<Variant> precision_f16(const Case& the_case);
std::vector<Variant> precision_bf16(const Case& the_case);
std::vector<Variant> scores_shifted(const Case& the_case);
std::vector<Variant> dropout_active(const Case& the_case);

/// True where x, the context, k, v or the cache hold a NaN or an infinity.
bool inputs_non_finite(const Problem<double>& problem);

/// NaN in v at keys that every query has hidden, which reaches heads and out as 0*NaN: no departure
/// from the formula, but hardly what was meant.
std::optional<FoundFault> nan_behind_mask_finding(const Case& the_case);

}  // namespace qkv::faults

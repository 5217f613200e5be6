// Shapes of masks, key padding and lengths: what fits (B,H,L,S), and what looks as if it was meant
// otherwise.
#pragma once

#include "qkv/attention/inputs.hpp"
#include "qkv/attention/settings.hpp"
#include "qkv/attention/sizes.hpp"
#include "qkv/base/error.hpp"
#include "qkv/tensor/shape.hpp"

namespace qkv {

/// Adds a complaint for each of mask, key_padding and lengths that does not fit the sizes.
void require_mask_shapes(const Inputs& inputs, const Settings& settings, const Sizes& sizes,
                         Complaints& complaints);

/// The mask with exactly four axes, each 1 or full (the last may be short where
/// Settings::short_mask_hides): rank-3 masks of torch.nn.MultiheadAttention, (B*H,L,S), are split
/// into (B,H,L,S).
Shape mask_shape_by_axis(const Shape& shape, const Settings& settings, const Sizes& sizes);

}  // namespace qkv

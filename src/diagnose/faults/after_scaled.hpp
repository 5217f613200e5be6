// feed_after_scaled(): lets the step after the scale work on another tensor.
#pragma once

#include <functional>

#include "qkv/diagnose/alteration.hpp"

namespace qkv::faults {

/// The stage after `scaled` (capped, masked or attn, whichever comes first) is made from
/// `other(held)`, whatever `scaled` holds: the user may have kept a tensor that the code never
/// used.
void feed_after_scaled(Alteration& alteration, std::function<Tensor<double, 4>(const Held&)> other);

}  // namespace qkv::faults

// The table of checks: id, step of the chain, what must hold, and the function that tests it in
// float and in double.
#include <array>

#include "checks.hpp"

namespace qkv {

namespace checks {

namespace {

constexpr std::array<Check, 21> checks_in_order = {{
    {"input.finite", 2, "no input holds NaN or Inf", input_finite, input_finite},
    {"input.dtype", 2, "every tensor of numbers has a float type", input_dtype, input_dtype},
    {"input.range", 2, "no input is constant, and none is absurdly large or small", input_range,
     input_range},
    {"mask.dtype", 2, "a mask that is added to the scores is not really a 0/1 mask", mask_dtype,
     mask_dtype},
    {"mask.polarity", 2, "the mask hides neither nearly everything nor the diagonal", mask_polarity,
     mask_polarity},
    {"mask.shape", 2, "the axes of the mask can be meant in one way only", mask_shape, mask_shape},
    {"weights.shared", 2, "W_Q, W_K and W_V are three different matrices", weights_shared,
     weights_shared},
    {"stage.finite", 3, "no stage holds NaN or +Inf, and only masked holds -Inf", stage_finite,
     stage_finite},
    {"stage.magnitude", 3,
     "scaled is scores times the scale, its spread near 1 for unit-variance q and k, and attn*v "
     "stays within the range of v",
     stage_magnitude, stage_magnitude},
    {"softmax.range", 4, "every weight lies in [0, 1]", softmax_range, softmax_range},
    {"softmax.row_sum", 4, "the weights of a query sum to 1, and to 0 where it sees no key",
     softmax_row_sum, softmax_row_sum},
    {"softmax.axis", 4, "no other axis sums to 1 in place of the last", softmax_axis, softmax_axis},
    {"softmax.recompute", 4, "attn is the softmax of the stage before it", softmax_recompute,
     softmax_recompute},
    {"softmax.rank", 4, "log attn, centred by row, has rank D at most where only q*k^T made it",
     softmax_rank, softmax_rank},
    {"softmax.saturation", 4, "not nearly every query puts all its weight on one key",
     softmax_saturation, softmax_saturation},
    {"softmax.uniform", 4, "the weights of a query are not all equal", softmax_uniform,
     softmax_uniform},
    {"mask.hidden_zero", 5, "the weights of hidden keys are exactly 0", mask_hidden_zero,
     mask_hidden_zero},
    {"mask.leak", 5, "nothing of the future, of the padding or from behind the mask gets through",
     mask_leak, mask_leak},
    {"mask.before_softmax", 5, "the weights of a query sum to 1 over the keys that it sees",
     mask_before_softmax, mask_before_softmax},
    {"mask.empty_rows", 5, "every query sees a key", mask_empty_rows, mask_empty_rows},
    {"resource.memory", 6, "the stages fit into the memory limit", resource_memory,
     resource_memory},
}};

}  // namespace

}  // namespace checks

std::span<const Check> check_list() { return checks::checks_in_order; }

}  // namespace qkv

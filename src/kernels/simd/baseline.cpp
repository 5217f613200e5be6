// The kernels' inner parts for any CPU of the architecture: 4 lanes.
#include "kernels/simd/instance.hpp"

namespace qkv {

const SimdFunctions baseline_functions = functions_here;

}  // namespace qkv

// The kernels' inner parts for AVX2 and FMA: 8 lanes.
#if defined(__x86_64__)
#include "kernels/simd/instance.hpp"

namespace qkv {

const SimdFunctions avx2_functions = functions_here;

}  // namespace qkv
#endif

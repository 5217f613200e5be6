// The kernels' inner parts for AVX-512 (F, DQ, VL, BW): 16 lanes.
#if defined(__x86_64__)
#include "kernels/simd/instance.hpp"

namespace qkv {

const SimdFunctions avx512_functions = functions_here;

}  // namespace qkv
#endif

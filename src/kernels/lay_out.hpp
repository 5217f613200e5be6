// lay_out(): q, k and v for a kernel, copied only where something has to be computed.
#pragma once

#include "qkv/kernels/kernel.hpp"

namespace qkv {

/// q (B,H,L,D), k (B,G,S,D) and v (B,G,S,Dv), the cache in front. Where they come out of
/// projections the heads lie side by side as those leave them; where the problem is stored and
/// nothing is between the file and the kernel, they lie in the file.
template <class T>
HeadViews lay_out(const Problem<T>& problem);

}  // namespace qkv

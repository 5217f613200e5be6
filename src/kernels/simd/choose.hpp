// simd_functions(): the functions of an instruction set, for code that is built for every CPU.
#pragma once

#include "kernels/simd/functions.hpp"
#include "qkv/kernels/isa.hpp"

namespace qkv {

/// The functions built for an instruction set that this CPU has.
const SimdFunctions& simd_functions(Isa isa);

}  // namespace qkv

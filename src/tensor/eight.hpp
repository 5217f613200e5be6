// Eight doubles at a time, for functions that are QKV_WIDE.
#pragma once

#include "tensor/wide.hpp"

namespace qkv {

typedef double Eight __attribute__((vector_size(64)));
typedef double EightDoubles __attribute__((vector_size(64), aligned(8), may_alias));
typedef float EightFloats __attribute__((vector_size(32), aligned(4), may_alias));

QKV_INLINE void load(const double* from, Eight& to) {
  to = *reinterpret_cast<const EightDoubles*>(from);
}
QKV_INLINE void load(const float* from, Eight& to) {
  to = __builtin_convertvector(*reinterpret_cast<const EightFloats*>(from), Eight);
}

}  // namespace qkv

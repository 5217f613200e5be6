// Several doubles at a time, for functions that are QKV_WIDE.
#pragma once

#include "tensor/wide.hpp"

namespace qkv {

typedef double Four __attribute__((vector_size(32)));
typedef double FourDoubles __attribute__((vector_size(32), aligned(8), may_alias));
typedef double Eight __attribute__((vector_size(64)));
typedef double EightDoubles __attribute__((vector_size(64), aligned(8), may_alias));
typedef float EightSingles __attribute__((vector_size(32)));
typedef float EightFloats __attribute__((vector_size(32), aligned(4), may_alias));

QKV_INLINE void load(const double* from, Four& to) {
  to = *reinterpret_cast<const FourDoubles*>(from);
}
/// Number by number: GCC 12 sees that it is one instruction, and of a conversion of vectors it
/// makes several.
QKV_INLINE void load(const float* from, Four& to) { to = Four{from[0], from[1], from[2], from[3]}; }
QKV_INLINE void load(const double* from, Eight& to) {
  to = *reinterpret_cast<const EightDoubles*>(from);
}
QKV_INLINE void load(const float* from, Eight& to) {
  to = Eight{from[0], from[1], from[2], from[3], from[4], from[5], from[6], from[7]};
}
QKV_INLINE void load(const float* from, EightSingles& to) {
  to = *reinterpret_cast<const EightFloats*>(from);
}

/// A register of 256 bits of a type.
template <class T>
struct RegisterOf;
template <>
struct RegisterOf<float> {
  typedef EightSingles Type;
};
template <>
struct RegisterOf<double> {
  typedef Four Type;
};

}  // namespace qkv

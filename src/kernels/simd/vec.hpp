// Vec: a register of floats, as wide as the instruction set that this translation unit is built
// for.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace qkv {

// Everything in this folder's headers is in an unnamed namespace on purpose: each of the
// translation units that include them has its own copy, built for its own instruction set, and the
// linker cannot take one for another. For the same reason no header of the C++ library is included
// that has inline functions.
namespace {

// QKV_MATRIX_UNIT, which a file that uses one defines: as many as its tiles have columns, whatever
// the registers' width.
#if defined(__AVX512F__) || defined(QKV_MATRIX_UNIT)
constexpr int lanes = 16;
#elif defined(__AVX__)
constexpr int lanes = 8;
#else
constexpr int lanes = 4;
#endif

/// Queries of a tile: as many registers as leave room for the sums of a block of keys.
constexpr int max_vecs = lanes == 16 ? 4 : 3;

typedef float Vec __attribute__((vector_size(4 * lanes)));
typedef std::int32_t IntVec __attribute__((vector_size(4 * lanes)));
typedef std::uint32_t BitVec __attribute__((vector_size(4 * lanes)));
typedef float LooseVec __attribute__((vector_size(4 * lanes), aligned(4), may_alias));

constexpr float infinity = __builtin_inff();

/// x - 0 and not 0 + x: the compiler knows that the first is x, also for -0.
inline Vec splat(float x) { return x - Vec{}; }
inline IntVec splat(std::int32_t x) { return x - IntVec{}; }

inline Vec load(const float* from) { return *reinterpret_cast<const LooseVec*>(from); }
inline void store(float* to, Vec x) { *reinterpret_cast<LooseVec*>(to) = x; }

/// The first `count` numbers, zeros behind them.
inline Vec load_first(const float* from, std::ptrdiff_t count) {
#if defined(__AVX512F__)
  return _mm512_maskz_loadu_ps(static_cast<__mmask16>((1U << count) - 1U), from);
#else
  Vec x{};
  for (std::ptrdiff_t n = 0; n < count; ++n) x[n] = from[n];
  return x;
#endif
}

/// The greater of the two; a NaN in x is forgotten, one in `so_far` stays.
inline Vec greater(Vec x, Vec so_far) {
#if defined(__AVX512F__)
  // With a mask: GCC 12 finds an uninitialised variable in the plain form (its bug 105593).
  return _mm512_maskz_max_ps(0xffff, x, so_far);
#else
  return x > so_far ? x : so_far;
#endif
}

/// True where any element of a comparison's result is true.
inline bool any(IntVec truth) {
#if defined(__AVX512F__)
  return _mm512_test_epi32_mask(reinterpret_cast<__m512i>(truth),
                                reinterpret_cast<__m512i>(truth)) != 0;
#else
  std::int32_t all = 0;
  for (int lane = 0; lane < lanes; ++lane) all |= truth[lane];
  return all != 0;
#endif
}

inline float sum_of(Vec x) {
  float sums[lanes];
  for (int lane = 0; lane < lanes; ++lane) sums[lane] = x[lane];
  for (int step = lanes / 2; step > 0; step /= 2)
    for (int lane = 0; lane < step; ++lane) sums[lane] += sums[lane + step];
  return sums[0];
}

}  // namespace
}  // namespace qkv

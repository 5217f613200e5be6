// The tiled kernel's inner part with its products in tiles like AMX's, in plain loops for any CPU.
#define QKV_MATRIX_UNIT
#include "kernels/simd/matrix_rows.hpp"

namespace qkv {

namespace {

/// source  Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, TDPBF16PS: even
///         and odd products have a sum each, from zero, before both are added; denormals are zero
///         wherever they come up
class EmulatedUnit {
 public:
  void configure() const {}
  void release() const {}

  template <int Tile>
  void zero() {
    __builtin_memset(tiles_[Tile], 0, sizeof tiles_[Tile]);
  }
  template <int Tile>
  void load(const float* from, std::ptrdiff_t row) {
    for (int m = 0; m < 16; ++m) tiles_[Tile][m] = bits_of(qkv::load(from + m * row));
  }
  template <int C, int A, int B>
  void multiply() {
    for (int m = 0; m < 16; ++m) {
      Vec even{}, odd{};
      for (int k = 0; k < 16; ++k) {
        const std::uint32_t a = tiles_[A][m][k];
        even = flushed(even + upper(splat_bits(a << 16)) * upper(tiles_[B][k] << 16));
        odd = flushed(odd + upper(splat_bits(a)) * upper(tiles_[B][k]));
      }
      const Vec c = flushed(reinterpret_cast<Vec>(tiles_[C][m])) + flushed(even + odd);
      tiles_[C][m] = bits_of(flushed(c));
    }
  }
  template <int Tile>
  void store(float* to, std::ptrdiff_t row) const {
    for (int m = 0; m < 16; ++m) qkv::store(to + m * row, reinterpret_cast<Vec>(tiles_[Tile][m]));
  }

 private:
  static BitVec splat_bits(std::uint32_t bits) { return bits - BitVec{}; }
  static Vec flushed(Vec x) { return (bits_of(x) & 0x7f800000U) == 0U ? x * 0.0F : x; }
  /// The bfloat16 in the upper half of each word.
  static Vec upper(BitVec words) { return flushed(reinterpret_cast<Vec>(words & 0xffff0000U)); }

  BitVec tiles_[8][16] = {};
};

}  // namespace

const MatrixFunctions emulated_matrix_functions = matrix_functions_of<EmulatedUnit>;

}  // namespace qkv

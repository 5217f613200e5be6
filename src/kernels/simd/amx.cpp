// The tiled kernel's inner part with its products in AMX tiles of bfloat16.
#if defined(__x86_64__)
#define QKV_MATRIX_UNIT
#include "kernels/simd/matrix_rows.hpp"

namespace qkv {

namespace {

/// Written out, because the intrinsics of GCC 12 take the numbers of tiles as digits only, and its
/// loads do not tell the compiler that they read memory.
struct AmxUnit {
  void configure() const {
    /// Palette 1: 8 tiles of 16 rows of 64 bytes; zeros where there might be more.
    struct Configuration {
      std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
      std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
      std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
    };
    static_assert(sizeof(Configuration) == 64);
    const Configuration configuration;
    __asm__ volatile("ldtilecfg %0" ::"m"(configuration));
  }
  void release() const { __asm__ volatile("tilerelease"); }

  template <int Tile>
  void zero() const {
    __asm__ volatile("tilezero %%tmm%c0" ::"i"(Tile));
  }
  template <int Tile>
  void load(const float* from, std::ptrdiff_t row) const {
    __asm__ volatile("tileloadd (%0,%1,1), %%tmm%c2" ::"r"(from), "r"(row * 4), "i"(Tile)
                     : "memory");
  }
  template <int C, int A, int B>
  void multiply() const {
    __asm__ volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(C), "i"(A), "i"(B));
  }
  template <int Tile>
  void store(float* to, std::ptrdiff_t row) const {
    __asm__ volatile("tilestored %%tmm%c2, (%0,%1,1)" ::"r"(to), "r"(row * 4), "i"(Tile)
                     : "memory");
  }
};

}  // namespace

const MatrixFunctions amx_functions = matrix_functions_of<AmxUnit>;

}  // namespace qkv
#endif

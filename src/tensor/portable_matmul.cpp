// portable_matmul: each element of the product summed in rising k, whatever the CPU.
#include <algorithm>
#include <cstring>
#include <vector>

#include "qkv/base/parallel.hpp"
#include "qkv/tensor/portable.hpp"

namespace qkv {

namespace {

/// A tile of c that the accumulators of the smallest CPU hold in registers.
constexpr std::size_t tile_rows = 4, tile_columns = 8;
/// Rows that share a packed panel of b.
constexpr std::size_t block_rows = 128;

template <class T>
T at(const MatrixView<T>& matrix, std::size_t row, std::size_t column) {
  return matrix.operand == Operand::as_stored ? matrix.data[row * matrix.stride + column]
                                              : matrix.data[column * matrix.stride + row];
}

/// Columns [first, first + tile_columns) of b, a row of them for each k; zeros beyond N.
template <class T>
void pack(std::size_t N, std::size_t K, const MatrixView<T>& b, std::size_t first, T* panel) {
  const std::size_t count = std::min(tile_columns, N - first);
  for (std::size_t k = 0; k < K; ++k) {
    for (std::size_t n = 0; n < tile_columns; ++n)
      panel[k * tile_columns + n] = n < count ? at(b, k, first + n) : T(0);
  }
}

/// `Rows` rows of the tile: sums[r][n] = sum_k a[r][k] * panel[k][n]
template <std::size_t Rows, class T>
void multiply_tile(std::size_t K, const T* const (&a)[tile_rows], std::size_t a_step,
                   const T* panel, T (&sums)[tile_rows][tile_columns]) {
  // Vectors of the language: left to itself, GCC 12 keeps the sums in memory. Elements of a vector
  // do not meet, so that its length changes no bit.
  constexpr std::size_t length = 16 / sizeof(T), vectors = tile_columns / length;
  using Vector [[gnu::vector_size(16)]] = T;
  Vector held[Rows][vectors] = {};
  for (std::size_t k = 0; k < K; ++k) {
    Vector row[vectors];
    std::memcpy(row, panel + k * tile_columns, sizeof row);
    for (std::size_t r = 0; r < Rows; ++r) {
      const T factor = a[r][k * a_step];
      for (std::size_t n = 0; n < vectors; ++n) held[r][n] += factor * row[n];
    }
  }
  for (std::size_t r = 0; r < Rows; ++r) std::memcpy(sums[r], held[r], sizeof held[r]);
}

}  // namespace

template <class T>
void portable_matmul(std::size_t M, std::size_t N, std::size_t K, MatrixView<T> a, MatrixView<T> b,
                     T* c, std::size_t c_stride, std::size_t threads) {
  if (M == 0 || N == 0) return;
  const std::size_t row_blocks = (M + block_rows - 1) / block_rows;
  const std::size_t panels = (N + tile_columns - 1) / tile_columns;
  const bool stored = a.operand == Operand::as_stored;
  const std::size_t a_step = stored ? 1 : a.stride;
  std::vector<std::vector<T>> packed(std::max<std::size_t>(threads, 1));

  parallel(threads, row_blocks * panels, [&](std::size_t item, std::size_t thread) {
    std::vector<T>& panel = packed[thread];
    panel.resize(K * tile_columns);
    const std::size_t first = item % panels * tile_columns,
                      columns = std::min(tile_columns, N - first);
    pack(N, K, b, first, panel.data());
    const std::size_t begin = item / panels * block_rows, end = std::min(begin + block_rows, M);
    for (std::size_t m = begin; m < end; m += tile_rows) {
      const std::size_t rows = std::min(tile_rows, end - m);
      const T* from[tile_rows] = {};
      for (std::size_t r = 0; r < rows; ++r)
        from[r] = stored ? a.data + (m + r) * a.stride : a.data + m + r;
      T sums[tile_rows][tile_columns] = {};
      if (rows == tile_rows) {
        multiply_tile<tile_rows>(K, from, a_step, panel.data(), sums);
      } else {
        for (std::size_t r = 0; r < rows; ++r) {
          const T* const one[tile_rows] = {from[r]};
          T sum[tile_rows][tile_columns] = {};
          multiply_tile<1>(K, one, a_step, panel.data(), sum);
          std::copy_n(sum[0], tile_columns, sums[r]);
        }
      }
      for (std::size_t r = 0; r < rows; ++r)
        std::copy_n(sums[r], columns, c + (m + r) * c_stride + first);
    }
  });
}

template <class T>
void matmul(Arithmetic arithmetic, std::size_t M, std::size_t N, std::size_t K, MatrixView<T> a,
            MatrixView<T> b, T* c, std::size_t c_stride) {
  if (arithmetic == Arithmetic::native) {
    matmul(M, N, K, a, b, c, c_stride);
    return;
  }
  const double operations =
      2 * static_cast<double>(M) * static_cast<double>(N) * static_cast<double>(K);
  portable_matmul(M, N, K, a, b, c, c_stride, worthwhile_threads(blas_threads(), operations));
}

template void portable_matmul(std::size_t, std::size_t, std::size_t, MatrixView<float>,
                              MatrixView<float>, float*, std::size_t, std::size_t);
template void portable_matmul(std::size_t, std::size_t, std::size_t, MatrixView<double>,
                              MatrixView<double>, double*, std::size_t, std::size_t);

template void matmul(Arithmetic, std::size_t, std::size_t, std::size_t, MatrixView<float>,
                     MatrixView<float>, float*, std::size_t);
template void matmul(Arithmetic, std::size_t, std::size_t, std::size_t, MatrixView<double>,
                     MatrixView<double>, double*, std::size_t);

}  // namespace qkv

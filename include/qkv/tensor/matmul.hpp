// Matrix product through BLAS, and which of its CPU kernels is in use.
#pragma once

#include <cstddef>
#include <string>

namespace qkv {

enum class Operand { as_stored, transposed };

/// A row-major matrix somewhere in memory: `stride` elements from one row to the next.
template <class T>
struct MatrixView {
  const T* data = nullptr;
  std::size_t stride = 0;
  Operand operand = Operand::as_stored;
};

/// c (M,N) = a (M,K) * b (K,N), each of a and b as stored or transposed. K = 0 gives zeros.
///
/// edge    NaN and Inf in a or b reach c as IEEE 754 says: 0*NaN is NaN
void matmul(std::size_t M, std::size_t N, std::size_t K, MatrixView<float> a, MatrixView<float> b,
            float* c, std::size_t c_stride);
void matmul(std::size_t M, std::size_t N, std::size_t K, MatrixView<double> a, MatrixView<double> b,
            double* c, std::size_t c_stride);

/// How many threads a matrix product may use; 1 until it is set.
void set_blas_threads(std::size_t threads);
std::size_t blas_threads();

/// "OpenBLAS 0.3.21, kernel SkylakeX": the kernel that runs, not the one that was asked for.
std::string blas_description();

}  // namespace qkv

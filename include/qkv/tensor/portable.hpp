// Functions and products whose bits are the same on every CPU.
#pragma once

#include <cstddef>

#include "qkv/tensor/arithmetic.hpp"
#include "qkv/tensor/matmul.hpp"

namespace qkv {

/// e^x within an epsilon or two of double, in one fixed order of operations: the C library picks
/// other instructions, and other last bits, by CPU.
///
/// edge    below -708 it is 0 (no denormals), above 709.78 +Inf; NaN stays NaN
double portable_exp(double x);

/// tanh(x), the same.
double portable_tanh(double x);

/// c (M,N) = a (M,K) * b (K,N) with one accumulator of type T for each element, k rising: the
/// products of two float16 or bfloat16 numbers are exact in float, so that only the order of the
/// additions counts, and this one does not depend on the CPU, the sizes or the threads.
///
/// edge    NaN and Inf as IEEE 754 says; K = 0 gives zeros
template <class T>
void portable_matmul(std::size_t M, std::size_t N, std::size_t K, MatrixView<T> a, MatrixView<T> b,
                     T* c, std::size_t c_stride, std::size_t threads);

/// The product as the arithmetic asks: native ones through BLAS, others portable; both on the
/// threads of set_blas_threads(). Its elements are not rounded.
template <class T>
void matmul(Arithmetic arithmetic, std::size_t M, std::size_t N, std::size_t K, MatrixView<T> a,
            MatrixView<T> b, T* c, std::size_t c_stride);

}  // namespace qkv

// Matrix product through BLAS (c = a*b, row-major), and the choice of its CPU kernel.
#include "qkv/tensor/matmul.hpp"

#include <cblas.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <string>

#include "qkv/base/error.hpp"

extern "C" char* openblas_get_corename();

namespace qkv {

namespace {

// OpenBLAS 0.3.21 takes CPUs younger than itself for a Prescott of 2004, a sixth of the speed. It
// reads OPENBLAS_CORETYPE once, in a constructor of its own without priority; this one has to run
// before that, hence 101, the first priority that programs may use. A value that the user set
// stays.
__attribute__((constructor(101))) void choose_blas_kernel() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  const char* kernel = nullptr;
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512cd")) {
    kernel = "SkylakeX";
  } else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    kernel = __builtin_cpu_is("amd") ? "Zen" : "Haswell";
  }
  // Anything older is a CPU that OpenBLAS knows by itself.
  if (kernel != nullptr) setenv("OPENBLAS_CORETYPE", kernel, 0);
#endif
  // Threads are started by set_blas_threads() where a product is worth them, not at every start of
  // the program.
  setenv("OPENBLAS_NUM_THREADS", "1", 0);
}

CBLAS_TRANSPOSE flag(Operand operand) {
  return operand == Operand::transposed ? CblasTrans : CblasNoTrans;
}

blasint narrowed(std::size_t axis) {
  if (axis > static_cast<std::size_t>(std::numeric_limits<blasint>::max())) {
    throw Error(
        Complaint{.what = "axis too long for a matrix product",
                  .expected = "at most " + std::to_string(std::numeric_limits<blasint>::max()),
                  .got = std::to_string(axis)});
  }
  return static_cast<blasint>(axis);
}

template <class T, class Gemm>
void multiply(std::size_t M, std::size_t N, std::size_t K, const MatrixView<T>& a,
              const MatrixView<T>& b, T* c, std::size_t c_stride, Gemm gemm) {
  if (M == 0 || N == 0) return;
  if (K == 0) {
    for (std::size_t m = 0; m < M; ++m) std::fill_n(c + m * c_stride, N, T(0));
    return;
  }
  // BLAS wants a stride of at least one row even where there is only one.
  const auto stride = [](std::size_t asked) { return std::max<blasint>(narrowed(asked), 1); };
  gemm(CblasRowMajor, flag(a.operand), flag(b.operand), narrowed(M), narrowed(N), narrowed(K), T(1),
       a.data, stride(a.stride), b.data, stride(b.stride), T(0), c, stride(c_stride));
}

}  // namespace

void matmul(std::size_t M, std::size_t N, std::size_t K, MatrixView<float> a, MatrixView<float> b,
            float* c, std::size_t c_stride) {
  multiply(M, N, K, a, b, c, c_stride, cblas_sgemm);
}

void matmul(std::size_t M, std::size_t N, std::size_t K, MatrixView<double> a, MatrixView<double> b,
            double* c, std::size_t c_stride) {
  multiply(M, N, K, a, b, c, c_stride, cblas_dgemm);
}

void set_blas_threads(std::size_t threads) {
  openblas_set_num_threads(static_cast<int>(std::clamp<std::size_t>(threads, 1, 1024)));
}

std::size_t blas_threads() { return static_cast<std::size_t>(openblas_get_num_threads()); }

std::string blas_description() {
  // The configuration opens with the library's name and version: "OpenBLAS 0.3.21 NO_LAPACKE
  // DYNAMIC_ARCH ...".
  const std::string configuration = openblas_get_config();
  const std::size_t after_name = configuration.find(' ');
  const std::size_t after_version = configuration.find(' ', after_name + 1);
  return configuration.substr(0, after_version) + ", kernel " + openblas_get_corename();
}

}  // namespace qkv

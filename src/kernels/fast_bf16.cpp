// The fast kernel: tiled, with its products in a matrix unit of bfloat16.
#include "kernels/simd/matrix_functions.hpp"
#include "matrix_unit.hpp"
#include "qkv/base/error.hpp"
#include "qkv/base/text.hpp"
#include "qkv/kernels/fast.hpp"
#include "tiled.hpp"

namespace qkv {

namespace {

constexpr std::string_view summary = "tiled, with bfloat16 products in a matrix unit";
constexpr std::string_view limits = "no empty axis, and no dropout";

template <const MatrixFunctions& functions>
KernelOutput<float> fast(const Problem<float>& problem, const HeadViews& views,
                         const KernelRun& run) {
  return tiled_with(functions.rows, problem, views, run);
}

template <const MatrixFunctions& functions>
double fast_workspace(const Sizes& sizes, const Settings&, std::size_t, const KernelRun& run) {
  return tiled_workspace_with(functions.rows, sizes, run);
}

template <const MatrixFunctions& functions>
constexpr Kernel kernel_of(std::string_view name) {
  return {name,           summary,         limits,  false,
          tiled_supports, fast<functions>, nullptr, fast_workspace<functions>};
}

#if defined(__x86_64__)
constexpr Kernel amx_kernel = kernel_of<amx_functions>("fast-bf16/amx");
#endif
constexpr Kernel emulated_kernel = kernel_of<emulated_matrix_functions>("fast-bf16/emulated");

}  // namespace

const Kernel& choose_fast_kernel(const std::string& wanted, const Sizes& sizes,
                                 const Settings& settings) {
  if (wanted != "bf16") {
    throw Error(Complaint{.what = "unknown fast arithmetic",
                          .where = "--fast",
                          .expected = "bf16",
                          .got = escaped(wanted)});
  }
  if (!tiled_supports(sizes, settings)) {
    throw Error(Complaint{.what = "this problem has no fast path",
                          .where = "--fast bf16",
                          .expected = std::string(limits),
                          .got = settings.dropout ? "--dropout" : "an axis of length 0"});
  }
#if defined(__x86_64__)
  if (matrix_unit().usable) return amx_kernel;
#endif
  throw Error(
      Complaint{.what = "no matrix units for bfloat16",
                .where = "--fast bf16",
                .expected = "a CPU with AMX-BF16 that the operating system lends",
                .got = matrix_unit().lacks,
                .hint = "leave it out: float32 needs none; --compute bf16 shows on any CPU what "
                        "rounding to bfloat16 does"});
}

const Kernel& emulated_fast_kernel() { return emulated_kernel; }

}  // namespace qkv

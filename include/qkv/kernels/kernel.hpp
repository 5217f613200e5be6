// Kernel: one way to compute the middle of attention, from q, k and v to heads, as a row of the
// table in kernel_list.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "qkv/attention/pipeline.hpp"
#include "qkv/attention/problem.hpp"
#include "qkv/base/parallel.hpp"
#include "qkv/kernels/isa.hpp"
#include "qkv/tensor/tensor.hpp"

namespace qkv {

/// heads (B,H,L,Dv) and, where it was asked for, lse (B,H,L), the natural log-sum-exp of `masked`.
template <class T>
struct KernelOutput {
  Tensor<T, 4> heads = {};
  Tensor<T, 3> lse = {};
};

/// How a kernel is to run.
struct KernelRun {
  bool wants_lse = false;
  std::size_t threads = 1;  ///< at most; matrix products of the reference have their own setting
  Isa isa = Isa::baseline;  ///< instructions that the fast kernels use
  OnProgress on_progress = {};
};

struct Kernel {
  std::string_view name;     ///< "reference": the name in --kernel
  std::string_view summary;  ///< for the manual
  std::string_view limits;   ///< what it supports, for errors
  bool by_isa;               ///< built for each instruction set
  bool (*supports)(const Sizes&, const Settings&);
  KernelOutput<float> (*run_float)(const Problem<float>&, const QueryKeyValue<float>&,
                                   const KernelRun&);
  /// Null: the kernel computes in float only.
  KernelOutput<double> (*run_double)(const Problem<double>&, const QueryKeyValue<double>&,
                                     const KernelRun&);
  /// Bytes that it works in besides q, k, v, heads and lse, where an element of its arithmetic has
  /// `element_size` bytes.
  double (*workspace)(const Sizes&, const Settings&, std::size_t element_size, const KernelRun&);
};

/// All kernels, fastest first, the reference last.
std::span<const Kernel> kernel_list();

/// The first kernel of the list that supports the problem in arithmetic of type T, or the one of
/// that name.
///
/// throws  Error: no kernel of that name, or it does not support the problem
template <class T>
const Kernel& choose_kernel(const std::string& name, const Sizes& sizes, const Settings& settings);

/// "tiled/avx512", "reference": what computed, for the report.
std::string engine_name(const Kernel& kernel, Isa isa);

/// attend() in one pass: no (L,S) tensor is held.
template <class T>
struct OnePass {
  Attended<T> attended = {};
  Tensor<T, 3> lse = {};
};
template <class T>
OnePass<T> attend_in_one_pass(const Problem<T>& problem, const Kernel& kernel,
                              const KernelRun& run);

}  // namespace qkv

// Kernel: one way to compute the middle of attention, from q, k and v to heads, as a row of the
// table in kernel_list.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "qkv/attention/pipeline.hpp"
#include "qkv/attention/problem.hpp"
#include "qkv/base/parallel.hpp"
#include "qkv/kernels/isa.hpp"
#include "qkv/tensor/tensor.hpp"

namespace qkv {

/// q (B,H,L,D), k (B,G,S,D) and v (B,G,S,Dv), each of any strides and float type: a kernel reads
/// them where they lie if it can.
struct HeadViews {
  Array q = {}, k = {}, v = {};

  HeadViews() = default;
  template <class T>
  HeadViews(const QueryKeyValue<T>& made)
      : q(as_array(made.q)), k(as_array(made.k)), v(as_array(made.v)) {}
};

/// Which queries: those of batch rows [b, b_end), heads [h, h_end), whole groups of them, and
/// positions [l, l_end).
struct Part {
  std::size_t b = 0, b_end = 0, h = 0, h_end = 0, l = 0, l_end = 0;
};

/// All queries.
Part whole(const Sizes& sizes);

/// Memory that is used again, from part to part and from run to run.
class Buffer {
 public:
  /// throws  Error when there is no such memory
  const std::shared_ptr<std::byte>& at_least(std::size_t bytes) {
    if (bytes > size_ || memory_ == nullptr) {
      memory_.reset();
      memory_ = allocate_bytes(bytes);
      size_ = bytes;
    }
    return memory_;
  }

 private:
  std::shared_ptr<std::byte> memory_ = nullptr;
  std::size_t size_ = 0;
};

/// heads and, where it was asked for, lse, the natural log-sum-exp of `masked`, (b,h,l) of the part
/// that was computed.
template <class T>
struct KernelOutput {
  Tensor<T, 4> heads = {};  ///< (b,h,l,Dv), or (b,l,h,Dv) where heads_inside
  Tensor<T, 3> lse = {};
};

/// How a kernel is to run.
struct KernelRun {
  bool wants_lse = false;
  bool heads_inside = false;      ///< heads come as (B,L,H,Dv), the order of concat
  std::optional<Part> part = {};  ///< none: all queries
  Buffer* buffer = nullptr;       ///< where heads are written; null: to memory of their own
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
  KernelOutput<float> (*run_float)(const Problem<float>&, const HeadViews&, const KernelRun&);
  /// Null: the kernel computes in float only.
  KernelOutput<double> (*run_double)(const Problem<double>&, const HeadViews&, const KernelRun&);
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

/// What is left when all of out has been handed on.
template <class T>
struct OnePass {
  HeadViews views = {};   ///< of which k and v are the grown cache
  Tensor<T, 3> lse = {};  ///< (B,H,L); empty unless the run wants it
};

/// The next elements of out, in row-major order.
template <class T>
using OnOut = std::function<void(std::span<const T>)>;

/// heads of a part, before they are projected and handed on; run says how they lie.
template <class T>
using OnHeads = std::function<void(const Part&, const KernelRun& run, const KernelOutput<T>&)>;

/// attend() in one pass: no (L,S) tensor is held, and of out only as much as is handed on at once,
/// a few megabytes.
///
/// throws  Error when there is no memory, and whatever on_out and on_heads do
template <class T>
OnePass<T> attend_in_one_pass(const Problem<T>& problem, const Kernel& kernel, KernelRun run,
                              const OnOut<T>& on_out, const OnHeads<T>& on_heads = {});

}  // namespace qkv

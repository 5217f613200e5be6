// attend_in_one_pass(): part by part, from what the files hold to the elements of out.
#include <algorithm>
#include <utility>

#include "flatten.hpp"
#include "lay_out.hpp"
#include "parts.hpp"
#include "qkv/attention/project.hpp"
#include "qkv/kernels/kernel.hpp"

namespace qkv {

namespace {

/// What out is handed on by: enough to keep all threads busy and to make a write worth its call.
constexpr double bytes_at_once = 8 << 20;

template <class T>
KernelOutput<T> run_kernel(const Kernel& kernel, const Problem<T>& problem, const HeadViews& views,
                           const KernelRun& run) {
  if constexpr (sizeof(T) == sizeof(float)) {
    return kernel.run_float(problem, views, run);
  } else {
    return kernel.run_double(problem, views, run);
  }
}

/// Each of the views so that no kernel has to convert it, part by part.
template <class T>
void make_readable(HeadViews& views) {
  for (Array* view : {&views.q, &views.k, &views.v}) {
    const bool as_is = sizeof(T) == sizeof(float) ? is_readable(*view)
                                                  : view->dtype == dtype_of<T>() && is_plain(*view);
    if (!as_is) *view = as_array(as_rank<T, 4>(*view));
  }
}

/// lse of a part, to its place among all.
template <class T>
void keep_lse(const Tensor<T, 3>& part_lse, const Part& part, Tensor<T, 3>& lse) {
  for (std::size_t b = part.b; b < part.b_end; ++b) {
    for (std::size_t h = part.h; h < part.h_end; ++h) {
      std::ranges::copy(part_lse.row(b - part.b, h - part.h),
                        lse.row(b, h).begin() + static_cast<std::ptrdiff_t>(part.l));
    }
  }
}

}  // namespace

template <class T>
OnePass<T> attend_in_one_pass(const Problem<T>& problem, const Kernel& kernel, KernelRun run,
                              const OnOut<T>& on_out, const OnHeads<T>& on_heads) {
  const Sizes& sizes = problem.sizes;
  OnePass<T> result;
  result.views = lay_out(problem);
  make_readable<T>(result.views);
  if (run.wants_lse) result.lse = Tensor<T, 3>::make({sizes.B, sizes.H, sizes.L});

  Buffer own_buffer;
  if (run.buffer == nullptr) run.buffer = &own_buffer;
  run.heads_inside = heads_inside(sizes, problem.settings);
  const double row_width =
      sizes.has_wo ? std::max(static_cast<double>(sizes.Dv),
                              static_cast<double>(problem.output.out()) /
                                  static_cast<double>(std::max<std::size_t>(sizes.H, 1)))
                   : static_cast<double>(sizes.Dv);
  const std::vector<Part> parts =
      parts_of(sizes, run.heads_inside, row_width * sizeof(T), bytes_at_once);
  const OnProgress all_progress = run.on_progress;
  for (std::size_t n = 0; n < parts.size(); ++n) {
    const Part& part = parts[n];
    run.part = part;
    if (all_progress) {
      run.on_progress = [&](double share) {
        all_progress((static_cast<double>(n) + share) / static_cast<double>(parts.size()));
      };
    }
    KernelOutput<T> output = run_kernel(kernel, problem, result.views, run);
    const Arithmetic arithmetic = problem.settings.arithmetic;
    round_elements(arithmetic, output.heads.elements());
    if (on_heads) on_heads(part, run, output);
    if (run.wants_lse) keep_lse(output.lse, part, result.lse);
    if (sizes.has_wo) {
      const Tensor<T, 3> side_by_side = output.heads.template reshaped<3>(
          {part.b_end - part.b, part.l_end - part.l, sizes.H * sizes.Dv});
      Tensor<T, 3> out = project(side_by_side, problem.output, arithmetic);
      round_elements(arithmetic, out.elements());
      on_out(std::as_const(out).elements());
    } else {
      on_out(std::as_const(output.heads).elements());
    }
  }
  return result;
}

template OnePass<float> attend_in_one_pass(const Problem<float>&, const Kernel&, KernelRun,
                                           const OnOut<float>&, const OnHeads<float>&);
template OnePass<double> attend_in_one_pass(const Problem<double>&, const Kernel&, KernelRun,
                                            const OnOut<double>&, const OnHeads<double>&);

}  // namespace qkv

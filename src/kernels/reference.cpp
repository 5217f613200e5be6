// Kernel reference: the steps of the readable pipeline on blocks of queries.
#include "reference.hpp"

#include <algorithm>
#include <limits>

#include "part.hpp"
#include "qkv/attention/dropout.hpp"
#include "qkv/attention/mask.hpp"
#include "qkv/attention/scale.hpp"
#include "qkv/attention/scores.hpp"
#include "qkv/attention/softcap.hpp"
#include "qkv/attention/softmax.hpp"
#include "qkv/attention/weighted_sum.hpp"

namespace qkv {

namespace {

/// Rows [from, from + count) of one head as a tensor of its own, sharing the elements.
template <class T>
Tensor<T, 4> rows_of(const Tensor<T, 4>& x, std::size_t b, std::size_t h, std::size_t from,
                     std::size_t count) {
  auto shared = x;
  const std::size_t position = ((b * x.size(1) + h) * x.size(2) + from) * x.size(3);
  return Tensor<T, 4>::over({1, 1, count, x.size(3)}, shared.data() + position, x.owner());
}

std::size_t queries_per_block(std::size_t L, std::size_t S) {
  constexpr std::size_t logits_per_block = std::size_t{1} << 20;
  return std::clamp<std::size_t>(logits_per_block / std::max<std::size_t>(S, 1), 1,
                                 std::max<std::size_t>(L, 1));
}

}  // namespace

double reference_workspace(const Sizes& sizes, const Settings& settings, std::size_t element_size,
                           const KernelRun&) {
  const std::size_t queries = std::min(queries_per_block(sizes.L, sizes.S), sizes.L);
  // A step's logits and those it makes of them; dropout has the weights before and after it, beside
  // the logits that the log-sum-exp is taken of.
  const std::size_t held = settings.dropout ? 3 : 2;
  return static_cast<double>(queries * element_size) *
         static_cast<double>(held * sizes.S + sizes.Dv);
}

template <class T>
KernelOutput<T> reference(const Problem<T>& problem, const HeadViews& views, const KernelRun& run) {
  const std::size_t H = problem.sizes.H, L = problem.sizes.L, S = problem.sizes.S;
  const std::size_t heads_per_group = H / problem.sizes.G, block = queries_per_block(L, S);
  const Visibility<T>& visibility = problem.visibility;
  const auto all_q = as_rank<T, 4>(views.q), all_k = as_rank<T, 4>(views.k),
             all_v = as_rank<T, 4>(views.v);
  const Part part = run.part.value_or(whole(problem.sizes));
  KernelOutput<T> output = make_output<T>(problem, run);
  const Settings& settings = problem.settings;
  const Arithmetic arithmetic = settings.arithmetic;
  const auto rounded = [arithmetic](Tensor<T, 4> stage) {
    round_elements(arithmetic, stage.elements());
    return stage;
  };

  for (std::size_t b = part.b; b < part.b_end; ++b) {
    for (std::size_t h = part.h; h < part.h_end; ++h) {
      const Tensor<T, 4> k = rows_of(all_k, b, h / heads_per_group, 0, S);
      const Tensor<T, 4> v = rows_of(all_v, b, h / heads_per_group, 0, S);
      for (std::size_t first = part.l; first < part.l_end; first += block) {
        const std::size_t count = std::min(block, part.l_end - first);
        const Origin origin{b, h, first};

        Tensor<T, 4> logits = rounded(scores(rows_of(all_q, b, h, first, count), k, arithmetic));
        logits = rounded(scale(logits, problem.scale));
        if (settings.softcap) logits = rounded(softcap(logits, *settings.softcap, arithmetic));
        if (visibility.any()) logits = rounded(mask(logits, visibility, origin));
        Tensor<T, 4> attn = softmax(logits, settings.empty_rows, problem.sinks, h, arithmetic);
        settle_empty_rows(attn, visibility, origin);
        attn = rounded(attn);
        if (settings.dropout)
          attn = rounded(dropout(attn, *settings.dropout, settings.seed, H, L, origin));

        // Rounded with the part that they belong to, whether or not there is an output projection.
        const Tensor<T, 4> sums = weighted_sum(attn, v, arithmetic);
        for (std::size_t l = 0; l < count; ++l) {
          std::ranges::copy(
              sums.row(std::size_t{0}, std::size_t{0}, l),
              heads_row(output, run, b - part.b, h - part.h, first - part.l + l).begin());
        }
        if (run.wants_lse) {
          const Tensor<T, 3> lse = log_sum_exp(logits);
          for (std::size_t l = 0; l < count; ++l) {
            // A finite fill gives an empty row a finite sum; it still sees nothing.
            const bool empty = visibility.empty_row(b, h, first + l);
            output.lse(b - part.b, h - part.h, first - part.l + l) =
                empty ? -std::numeric_limits<T>::infinity()
                      : lse(std::size_t{0}, std::size_t{0}, l);
          }
        }
        if (run.on_progress) {
          const std::size_t heads_before = (b - part.b) * (part.h_end - part.h) + h - part.h;
          const std::size_t length = part.l_end - part.l;
          const std::size_t done = heads_before * length + first - part.l + count;
          run.on_progress(
              static_cast<double>(done) /
              static_cast<double>((part.b_end - part.b) * (part.h_end - part.h) * length));
        }
      }
    }
  }
  return output;
}

template KernelOutput<float> reference(const Problem<float>&, const HeadViews&, const KernelRun&);
template KernelOutput<double> reference(const Problem<double>&, const HeadViews&, const KernelRun&);

}  // namespace qkv

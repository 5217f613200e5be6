// Kernel reference: the steps of the readable pipeline on blocks of queries.
#include "reference.hpp"

#include <algorithm>
#include <limits>

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
KernelOutput<T> reference(const Problem<T>& problem, const QueryKeyValue<T>& qkv,
                          const KernelRun& run) {
  const auto [B, H, L, S] =
      std::tuple{problem.sizes.B, problem.sizes.H, problem.sizes.L, problem.sizes.S};
  const std::size_t heads_per_group = H / problem.sizes.G, block = queries_per_block(L, S);
  const Visibility<T>& visibility = problem.visibility;
  const Settings& settings = problem.settings;
  const Arithmetic arithmetic = settings.arithmetic;
  const auto rounded = [arithmetic](Tensor<T, 4> stage) {
    round_elements(arithmetic, stage.elements());
    return stage;
  };
  KernelOutput<T> output;
  output.heads = Tensor<T, 4>::make({B, H, L, problem.sizes.Dv});
  if (run.wants_lse) output.lse = Tensor<T, 3>::make({B, H, L});

  for (std::size_t b = 0; b < B; ++b) {
    for (std::size_t h = 0; h < H; ++h) {
      const Tensor<T, 4> k = rows_of(qkv.k, b, h / heads_per_group, 0, S);
      const Tensor<T, 4> v = rows_of(qkv.v, b, h / heads_per_group, 0, S);
      for (std::size_t first = 0; first < L; first += block) {
        const std::size_t count = std::min(block, L - first);
        const Origin origin{b, h, first};

        Tensor<T, 4> logits = rounded(scores(rows_of(qkv.q, b, h, first, count), k, arithmetic));
        logits = rounded(scale(logits, problem.scale));
        if (settings.softcap) logits = rounded(softcap(logits, *settings.softcap, arithmetic));
        if (visibility.any()) logits = rounded(mask(logits, visibility, origin));
        Tensor<T, 4> attn = softmax(logits, settings.empty_rows, problem.sinks, h, arithmetic);
        settle_empty_rows(attn, visibility, origin);
        attn = rounded(attn);
        if (settings.dropout)
          attn = rounded(dropout(attn, *settings.dropout, settings.seed, H, L, origin));

        // finish() rounds the heads, with or without an output projection.
        std::ranges::copy(weighted_sum(attn, v, arithmetic).elements(),
                          rows_of(output.heads, b, h, first, count).data());
        if (run.wants_lse) {
          const Tensor<T, 3> lse = log_sum_exp(logits);
          for (std::size_t l = 0; l < count; ++l) {
            // A finite fill gives an empty row a finite sum; it still sees nothing.
            const bool empty = visibility.empty_row(b, h, first + l);
            output.lse(b, h, first + l) = empty ? -std::numeric_limits<T>::infinity()
                                                : lse(std::size_t{0}, std::size_t{0}, l);
          }
        }
        if (run.on_progress) {
          run.on_progress(static_cast<double>((b * H + h) * L + first + count) /
                          static_cast<double>(B * H * L));
        }
      }
    }
  }
  return output;
}

template KernelOutput<float> reference(const Problem<float>&, const QueryKeyValue<float>&,
                                       const KernelRun&);
template KernelOutput<double> reference(const Problem<double>&, const QueryKeyValue<double>&,
                                        const KernelRun&);

}  // namespace qkv

// padding_by_sum(): padding that was found by the sum of a token's channels.
#include "padding_by_sum.hpp"

#include <cmath>
#include <vector>

#include "qkv/base/text.hpp"

namespace qkv::checks {

namespace {

enum class Token { zero, sums_to_zero, other };

template <class T>
Token kind_of(std::span<const T> channels, double eps) {
  double sum = 0, size = 0;
  for (const T channel : channels) {
    sum += static_cast<double>(channel);
    size += std::abs(static_cast<double>(channel));
  }
  if (size == 0) return Token::zero;
  return std::abs(sum) <= eps * size ? Token::sums_to_zero : Token::other;
}

}  // namespace

template <class T>
std::optional<CheckResult> padding_by_sum(const Evidence<T>& evidence) {
  const Tensor<T, 3>& x = evidence.x;
  const auto& padded = evidence.visibility->padded;
  const bool derived = !x.empty() && !padded.empty() && !evidence.sizes.has_context &&
                       x.size(0) == padded.size(0) && x.size(1) == padded.size(1);
  if (!derived) return std::nullopt;
  std::vector<std::size_t> first;
  std::size_t victims = 0;
  for (std::size_t b = 0; b < x.size(0); ++b) {
    for (std::size_t l = 0; l < x.size(1); ++l) {
      const Token token = kind_of(std::span<const T>(x.row(b, l)), evidence.eps);
      if ((token != Token::other) != (padded(b, l) != 0)) return std::nullopt;
      if (token != Token::sums_to_zero) continue;
      if (victims++ == 0) first = evidence.sizes.has_batch ? std::vector{b, l} : std::vector{l};
    }
  }
  if (victims == 0) return std::nullopt;
  const bool named = evidence.inputs != nullptr && evidence.inputs->key_padding;
  return CheckResult{
      .stage = named ? evidence.inputs->key_padding->where : "key padding",
      .status = Status::warn,
      .value = static_cast<double>(victims),
      .limit = 0,
      .at = first,
      .message = "hides x" + index_text(first) +
                 ", whose channels sum to 0 though they are not 0 (" + std::to_string(victims) +
                 (victims == 1 ? " such token)" : " such tokens)"),
      .hint =
          "padding found by the sum of a token hides real ones: look for tokens that are 0 "
          "throughout, or keep the lengths"};
}

template std::optional<CheckResult> padding_by_sum(const Evidence<float>&);
template std::optional<CheckResult> padding_by_sum(const Evidence<double>&);

}  // namespace qkv::checks

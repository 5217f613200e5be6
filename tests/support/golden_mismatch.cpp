// Golden cases: judging a stage by them.
#include <cmath>
#include <limits>
#include <sstream>

#include "qkv/base/text.hpp"
#include "support/golden.hpp"

namespace qkv::test {

namespace {

bool is_plain_number(double x) { return std::isfinite(x) && std::abs(x) < 1e8; }

/// Infinities, NaN and fills must be met exactly; the lowest number is that of the type.
template <class T>
bool is_near(T got, double want, double allowed) {
  if (std::isnan(want)) return std::isnan(got);
  if (want == std::numeric_limits<double>::lowest()) return got == std::numeric_limits<T>::lowest();
  if (!is_plain_number(want)) return static_cast<double>(got) == want;
  return std::abs(static_cast<double>(got) - want) <= allowed;
}

}  // namespace

template <class T>
std::string mismatch(const Tensor<T, 4>& got, const GoldenStage& want) {
  std::ostringstream wrong;
  wrong.precision(17);
  if (got.shape() != want.shape) {
    wrong << "shape " << shape_text(got.shape()) << ", expected " << shape_text(want.shape);
    return wrong.str();
  }
  // The bounds are first order in epsilon and count a whole one where rounding costs a half; below
  // the smallest normal number, precision ends.
  const double eps = static_cast<double>(std::numeric_limits<T>::epsilon());
  const double tiny = static_cast<double>(std::numeric_limits<T>::min());
  const double allowed = eps * want.worst_error + tiny;
  for (std::size_t n = 0; n < want.at.size(); ++n) {
    const T value = got.data()[want.at[n]];
    if (is_near(value, want.values[n], allowed)) continue;
    wrong << "element " << want.at[n] << " of " << shape_text(want.shape) << " is " << value
          << ", expected " << want.values[n] << " within " << allowed << "; ";
    break;
  }
  double sum = 0, size_sum = 0, mixed_sum = 0;
  std::size_t neg_inf = 0, nan = 0, fills = 0, zeros = 0;
  for (std::size_t n = 0; n < got.size(); ++n) {
    const auto value = static_cast<double>(got.data()[n]);
    if (std::isnan(value))
      ++nan;
    else if (std::isinf(value))
      ++neg_inf;  // +Inf is never expected, so either way the count is off
    else if (!is_plain_number(value))
      ++fills;
    else {
      if (value == 0) ++zeros;
      sum += value;
      size_sum += std::abs(value);
      mixed_sum += value * hashed_value(want.tag, n);
    }
  }
  const auto count = [&](const char* what, std::size_t is, std::size_t should) {
    if (is != should) wrong << is << " " << what << ", expected " << should << "; ";
  };
  count("infinite", neg_inf, want.neg_inf);
  count("NaN", nan, want.nan);
  count("fills", fills, want.fills);
  // Hidden keys weigh exactly 0. In float, a visible key far below the maximum may underflow as
  // well.
  if (want.id == "attn" && (sizeof(T) == sizeof(double) || zeros < want.zeros))
    count("zeros", zeros, want.zeros);
  // Adding up here costs at most an epsilon of double per term; weights of the mixed sum are
  // below 2.
  const double sum_allowed =
      eps * want.summed_error + static_cast<double>(got.size()) * (tiny + 0x1p-52 * want.size_sum);
  const auto near = [&](const char* what, double is, double should, double off) {
    if (!(std::abs(is - should) <= off))
      wrong << what << " is " << is << ", expected " << should << " within " << off << "; ";
  };
  near("sum", sum, want.sum, sum_allowed);
  near("sum of sizes", size_sum, want.size_sum, sum_allowed);
  near("mixed sum", mixed_sum, want.mixed_sum, 2 * sum_allowed);
  return wrong.str();
}

template std::string mismatch(const Tensor<float, 4>&, const GoldenStage&);
template std::string mismatch(const Tensor<double, 4>&, const GoldenStage&);

}  // namespace qkv::test

// dropout-active: weights are dropped and the others enlarged, as in training.
#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "diagnose/faults.hpp"
#include "dropped_keys.hpp"
#include "follow.hpp"
#include "qkv/base/text.hpp"
#include "yours.hpp"

namespace qkv::faults {

namespace {

/// 1/(1-p), the middle of the ratios of the user's weights to the right ones; none where weights
/// are kept, or lost in another way than by chance.
std::optional<double> enlargement(const Case& the_case, const Tensor<double, 4>& attn) {
  const Followed followed = follow(the_case, "attn");
  const Tensor<double, 4>& right = followed.made.at("attn");
  if (right.sizes() != attn.sizes()) return std::nullopt;
  std::vector<double> ratios;
  std::size_t dropped = 0;
  for (std::size_t n = 0; n < attn.size(); ++n) {
    const double a = attn.data()[n], r = right.data()[n];
    // A weight below float32's least positive number is 0 without any dropout.
    if (!std::isfinite(a) || !(r > 0x1p-126)) continue;
    if (a == 0) {
      ++dropped;
    } else {
      ratios.push_back(a / r);
    }
  }
  if (ratios.empty()) return std::nullopt;
  std::ranges::nth_element(ratios, ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2));
  const double ratio = ratios[ratios.size() / 2], p = 1 - 1 / ratio;
  if (!(ratio > 1 + 8 * the_case.eps)) return std::nullopt;
  // Of n weights about n*p are dropped; six standard deviations off, it was not chance.
  const auto n = static_cast<double>(ratios.size() + dropped);
  const double spread = std::sqrt(n * p * (1 - p));
  if (std::abs(static_cast<double>(dropped) - n * p) > 6 * spread + 1) return std::nullopt;
  return ratio;
}

/// The p that somebody typed, where one of few digits is as near as rounding allows.
double typed(double p, double eps) {
  for (const double digits : {10.0, 100.0, 1000.0}) {
    const double round = std::round(p * digits) / digits;
    if (round > 0 && std::abs(1 / (1 - round) - 1 / (1 - p)) <= 8 * eps / (1 - p)) return round;
  }
  return p;
}

/// Entries of `kept` that are 0 drop a weight.
Variant dropping(const Tensor<double, 4>& kept, double p, const std::string& found) {
  return {[kept, p](Alteration& alteration) {
            alteration.edit("attn", [kept, p](const Held&, const Tensor<double, 4>& right) {
              auto dropped = right.clone();
              for (std::size_t n = 0; n < dropped.size() && n < kept.size(); ++n)
                dropped.data()[n] = kept.data()[n] == 0 ? 0 : right.data()[n] / (1 - p);
              return dropped;
            });
          },
          found + ": each is 0 or 1/(1-" + short_number(p) + ") = " + short_number(1 / (1 - p)) +
              " times the right one",
          "switch dropout off for inference (model.eval(), or dropout_p=0 where the function takes "
          "it); its p is " +
              short_number(p)};
}

}  // namespace

std::vector<Variant> dropout_active(const Case& the_case) {
  if (const Tensor<double, 4>* attn = given(the_case, "attn")) {
    const std::optional<double> ratio = enlargement(the_case, *attn);
    if (!ratio) return {};
    return {dropping(*attn, typed(1 - 1 / *ratio, the_case.eps), "your attn has weights dropped")};
  }
  const std::optional<Dropped> dropped = dropped_keys(the_case);
  if (!dropped) return {};
  return {dropping(dropped->kept, typed(1 - 1 / dropped->enlargement, 64 * the_case.eps),
                   yours(the_case, "attn") + " weights of which some were dropped")};
}

}  // namespace qkv::faults

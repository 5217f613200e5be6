// scores-shifted: all scores of a row are off by one number, which the softmax removes.
#include <cmath>

#include "diagnose/faults.hpp"
#include "diagnose/faults/follow.hpp"
#include "diagnose/faults/rules.hpp"
#include "qkv/base/text.hpp"

namespace qkv::faults {

namespace {

/// By how much each row of `own` is above that of `right`, (B,H,L,1), over what is finite in both.
Tensor<double, 4> mean_differences(const Tensor<double, 4>& own, const Tensor<double, 4>& right) {
  auto shift = Tensor<double, 4>::make({right.size(0), right.size(1), right.size(2), 1});
  const std::size_t S = right.size(3);
  for (std::size_t row = 0; row < shift.size(); ++row) {
    double sum = 0;
    std::size_t count = 0;
    for (std::size_t n = row * S; n < (row + 1) * S; ++n) {
      const double difference = own.data()[n] - right.data()[n];
      if (!std::isfinite(difference)) continue;
      sum += difference;
      ++count;
    }
    // One key alone would fit any number.
    shift.data()[row] = count < 2 ? 0 : sum / static_cast<double>(count);
  }
  return shift;
}

}  // namespace

/// What a bias of the keys does, or a position bias that leaves out the query's own position.
std::vector<Variant> scores_shifted(const Case& the_case) {
  for (const std::string id : {"scores", "scaled", "capped", "masked"}) {
    const Tensor<double, 4>* own = given(the_case, id);
    if (own == nullptr) continue;
    const Tensor<double, 4> right = follow(the_case, id).made.at(id);
    if (right.sizes() != own->sizes()) return {};
    const Tensor<double, 4> shift = mean_differences(*own, right);
    if (shift.size() == 0) return {};
    return {{[id, shift](Alteration& a) {
               a.edit(id, [shift](const Held&, const Tensor<double, 4>& made) {
                 if (!broadcasts(shift, made)) return made;
                 return filled<double>(made.sizes(), [&](auto b, auto h, auto i, auto j) {
                   return made(b, h, i, j) + broadcast(shift, b, h, i, j);
                 });
               });
             },
             "your " + id + " is off by one number in each row (" + short_number(shift.data()[0]) +
                 " in the first), which changes nothing after the softmax",
             "look for a bias of the keys, or of positions, that only one side adds; attn and out "
             "are right without mending"}};
  }
  return {};
}

}  // namespace qkv::faults

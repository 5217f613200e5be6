// Difference check: gradients against central differences of the loss, in float64.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "qkv/attention/inputs.hpp"
#include "qkv/attention/settings.hpp"
#include "qkv/grad/gradient.hpp"

namespace qkv {

/// What the worst element of one gradient showed.
struct DifferenceCheck {
  std::string of;
  double max_rel = 0;       ///< |gradient - difference| / scale
  double limit = 0;         ///< what truncation and rounding may do to it, by the same scale
  std::size_t checked = 0;  ///< elements; 0: none could be compared
  std::size_t count = 0;    ///< elements that there are
  std::size_t at = 0;       ///< the worst, row-major
  double gradient = 0, difference = 0;
  bool passes() const { return checked == 0 || max_rel <= limit; }
};

/// For some elements t of every gradient: (loss(t+h) - loss(t-h)) / 2h, loss = sum(dout*out), with
/// the forward pass alone. A tensor of the user's is changed before anything reads it, a stage when
/// it has been made.
///
/// step    h from 1.5e-6 (a quarter of the cube root of epsilon) times the tensor's root mean
///         square, 1 at most, to 256 times that: the one with the least limit
/// limit   the difference between steps h and 4h, which is 15 times the truncation error, over 3;
///         what rounding may leave in the losses, over h; and the root of epsilon for the rounding
///         of the gradient itself
/// scale   the greatest gradient of the tensor, or a thousandth of the greatest of all
/// sample  all elements of a tensor that has no more than `most`; else those with the greatest
///         gradients and others at hashed places; fewer, 4 at least, where it would take long
/// edge    elements whose gradient or difference is not finite are not compared; `dout` must be 0
///         where out is not finite (comparable_dout)
/// source  Press et al., Numerical Recipes, 5.7
std::vector<DifferenceCheck> check_by_differences(const Inputs& inputs, const Settings& settings,
                                                  const std::optional<NamedArray>& dout,
                                                  const std::vector<Gradient<double>>& gradients,
                                                  std::size_t threads, std::size_t most = 64);

/// dout with 0 where out is not finite: there the loss has no difference to compare with.
NamedArray comparable_dout(const Inputs& inputs, const Settings& settings,
                           const std::optional<NamedArray>& dout);

}  // namespace qkv

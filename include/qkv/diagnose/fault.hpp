// Fault: one mistake that people make, and how to make it on purpose.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/diagnose/alteration.hpp"
#include "qkv/diagnose/case.hpp"

namespace qkv {

/// One way to make the mistake: which weight, which axis, which number.
struct Variant {
  std::function<void(Alteration&)>
      apply;  ///< may be applied after another fault's, so it changes what it finds
  std::string
      message;  ///< what the user's tensors are: "your scaled is scores without the division by √D"
  std::string fix;  ///< how to mend it: "divide scores by sqrt(4) = 2 before the softmax"
};

/// One row of the table of faults.
struct Fault {
  std::string_view id;       ///< "scale-missing"
  std::string_view stage;    ///< the first stage that it strikes
  std::string_view summary;  ///< for the manual
  /// The ways in which it can be made on this case, likeliest first; none where it cannot (the
  /// shapes do not allow it, the option is not in use). May look at the user's tensors to fit a
  /// number.
  std::vector<Variant> (*variants)(const Case&);
};

/// All faults, likeliest first among those that give the same tensors.
std::span<const Fault> fault_list();

}  // namespace qkv

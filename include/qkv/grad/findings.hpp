// Findings: where gradients vanish, explode, or stop being numbers; each names its stage.
#pragma once

#include <string>
#include <vector>

#include "qkv/grad/backward.hpp"

namespace qkv {

struct GradFinding {
  std::string id;      ///< "gradient.vanishes", "gradient.explodes", "gradient.finite"
  std::string stage;   ///< where it happens: "attn"
  bool fails = false;  ///< false: only worth a warning
  std::string message = {};
  std::string hint = {};
};

/// vanishes  more than 90 % of the queries that see two keys or more put above 0.99 of their weight
///           on one key (or on the sink): the softmax lets 1 % through at most
/// explodes  the root mean square of a stage's gradient exceeds 100 times that of dout; names the
///           first such stage on the way back
/// finite    a gradient holds NaN or an infinity; names the first on the way back
template <class T>
std::vector<GradFinding> findings(const Backward<T>& backward, const Problem<T>& problem);

}  // namespace qkv

// Held: the stages computed so far, and what later steps make of them.
#include "qkv/diagnose/alteration.hpp"

#include "qkv/attention/cache.hpp"

namespace qkv {

Tensor<double, 4> Held::keys() const { return append(problem_->past_k, new_keys()); }

Tensor<double, 4> Held::values() const { return append(problem_->past_v, at("v")); }

const Tensor<double, 4>& Held::unmasked() const {
  for (const char* id : {"capped", "scaled", "scores"}) {
    if (has(id)) return at(id);
  }
  return at("scores");
}

const Tensor<double, 4>& Held::logits() const { return has("masked") ? at("masked") : unmasked(); }

}  // namespace qkv

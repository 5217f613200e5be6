// The input that a gradient belongs to.
#include "tensor_named.hpp"

#include <utility>

namespace qkv {

std::optional<NamedArray>* tensor_named(Inputs& inputs, const std::string& name) {
  const std::pair<const char*, std::optional<NamedArray>*> slots[] = {
      {"x", &inputs.x},           {"context", &inputs.context},
      {"q", &inputs.q},           {"k", &inputs.k},
      {"v", &inputs.v},           {"wq", &inputs.wq},
      {"wk", &inputs.wk},         {"wv", &inputs.wv},
      {"wo", &inputs.wo},         {"wqkv", &inputs.wqkv},
      {"bq", &inputs.bq},         {"bk", &inputs.bk},
      {"bv", &inputs.bv},         {"bo", &inputs.bo},
      {"bqkv", &inputs.bqkv},     {"mask", &inputs.mask},
      {"past_k", &inputs.past_k}, {"past_v", &inputs.past_v},
      {"sinks", &inputs.sinks},   {"q_gain", &inputs.q_norm},
      {"k_gain", &inputs.k_norm}};
  for (const auto& [known, slot] : slots) {
    if (name == known && slot->has_value()) return slot;
  }
  return nullptr;
}

}  // namespace qkv

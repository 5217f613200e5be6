// Given: the list of inputs.
#include "given.hpp"

namespace qkv::checks {

std::vector<Given> given(const Inputs* inputs) {
  std::vector<Given> list;
  if (inputs == nullptr) return list;
  const auto add = [&](const std::optional<NamedArray>& named, Role role) {
    if (named) list.push_back({&*named, role});
  };
  add(inputs->x, Role::activation);
  add(inputs->context, Role::activation);
  add(inputs->q, Role::activation);
  add(inputs->k, Role::activation);
  add(inputs->v, Role::activation);
  add(inputs->past_k, Role::activation);
  add(inputs->past_v, Role::activation);
  add(inputs->wq, Role::weight);
  add(inputs->wk, Role::weight);
  add(inputs->wv, Role::weight);
  add(inputs->wo, Role::weight);
  add(inputs->wqkv, Role::weight);
  add(inputs->bq, Role::bias);
  add(inputs->bk, Role::bias);
  add(inputs->bv, Role::bias);
  add(inputs->bo, Role::bias);
  add(inputs->bqkv, Role::bias);
  add(inputs->mask, Role::mask);
  add(inputs->key_padding, Role::rule);
  add(inputs->lengths, Role::rule);
  add(inputs->position, Role::rule);
  return list;
}

std::vector<std::size_t> index_of(std::size_t position, const Shape& shape) {
  std::vector<std::size_t> index(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    index[axis] = position % shape[axis];
    position /= shape[axis];
  }
  return index;
}

}  // namespace qkv::checks

// Stages: finding them in the evidence.
#include "stages.hpp"

namespace qkv::checks {

namespace {

/// True for stages that never have a head axis: (B,1,L,.) as they are held.
bool without_heads(std::string_view stage, const Sizes& sizes) {
  return stage == "x" || stage == "context" || stage == "concat" ||
         (stage == "out" && !(sizes.rank_four && !sizes.has_wo));
}

}  // namespace

template <class T>
std::vector<std::pair<std::string, Tensor<T, 4>>> held_stages(const Evidence<T>& evidence) {
  if (!evidence.stages.empty()) return evidence.stages;
  std::vector<std::pair<std::string, Tensor<T, 4>>> stages;
  const auto add = [&](const char* name, const Tensor<T, 4>& tensor) {
    if (!tensor.empty()) stages.emplace_back(name, tensor);
  };
  if (!evidence.x.empty()) {
    const auto& x = evidence.x;
    stages.emplace_back("x", x.template reshaped<4>({x.size(0), 1, x.size(1), x.size(2)}));
  }
  add("q", evidence.q);
  add("k", evidence.k);
  add("v", evidence.v);
  add("scores", evidence.scores);
  add("scaled", evidence.scaled);
  add("capped", evidence.capped);
  add("masked", evidence.masked);
  add("attn", evidence.attn);
  add("heads", evidence.heads);
  return stages;
}

template <class T>
Tensor<T, 4> heads_of(const Evidence<T>& evidence) {
  const Sizes& sizes = evidence.sizes;
  if (!evidence.heads.empty() || sizes.H != 1 || sizes.has_wo || sizes.rank_four) {
    return evidence.heads;
  }
  for (const auto& [name, tensor] : evidence.stages) {
    if (name == "out") return tensor;
  }
  return {};
}

template <class T>
std::vector<std::size_t> stage_index(const Evidence<T>& evidence, std::string_view stage,
                                     std::size_t b, std::size_t h, std::size_t i, std::size_t j) {
  if (stage == "out" && evidence.sizes.rank_four && !evidence.sizes.has_wo) {
    return {b, h, i, j};  // in the layout in which q came, which always has four axes
  }
  if (!without_heads(stage, evidence.sizes)) return evidence.at(b, h, i, j);
  std::vector<std::size_t> index;
  if (evidence.sizes.has_batch) index.push_back(b);
  index.push_back(i);
  index.push_back(j);
  return index;
}

template std::vector<std::pair<std::string, Tensor<float, 4>>> held_stages(const Evidence<float>&);
template std::vector<std::pair<std::string, Tensor<double, 4>>> held_stages(
    const Evidence<double>&);
template Tensor<float, 4> heads_of(const Evidence<float>&);
template Tensor<double, 4> heads_of(const Evidence<double>&);
template std::vector<std::size_t> stage_index(const Evidence<float>&, std::string_view, std::size_t,
                                              std::size_t, std::size_t, std::size_t);
template std::vector<std::size_t> stage_index(const Evidence<double>&, std::string_view,
                                              std::size_t, std::size_t, std::size_t, std::size_t);

}  // namespace qkv::checks

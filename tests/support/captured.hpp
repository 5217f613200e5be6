// captured(): runs the pipeline and keeps a copy of every stage that the hook is offered.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "qkv/attention/pipeline.hpp"

namespace qkv::test {

template <class T>
struct Captured {
  std::vector<std::pair<std::string, Tensor<T, 4>>> stages;  ///< in the order of the hook's calls
  Attended<T> result;

  std::vector<std::string> ids() const {
    std::vector<std::string> ids;
    for (const auto& [id, value] : stages) ids.push_back(id);
    return ids;
  }
  const Tensor<T, 4>& operator[](const std::string& wanted) const {
    for (const auto& [id, value] : stages)
      if (id == wanted) return value;
    throw std::out_of_range("no stage " + wanted);
  }
};

template <class T>
Captured<T> captured(const Inputs& inputs, const Settings& settings) {
  Captured<T> kept;
  const auto problem = make_problem<T>(inputs, settings);
  kept.result = attend<T>(problem, [&](std::string_view stage, Tensor<T, 4>& value) {
    kept.stages.emplace_back(std::string(stage), value.clone());
  });
  return kept;
}

}  // namespace qkv::test

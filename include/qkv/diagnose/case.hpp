// Case: the right problem, and the stages that the user's own code produced.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "qkv/attention/inputs.hpp"
#include "qkv/attention/problem.hpp"
#include "qkv/attention/stage_list.hpp"
#include "qkv/tensor/tensor.hpp"

namespace qkv {

/// One stage as the user has it.
struct GotStage {
  std::string id = {};
  std::string where = {};  ///< the file
  Shape shape = {};        ///< as given
  DType dtype = DType::float32;
  bool fits = false;  ///< the shape is the stage's own
  /// (B,H,L,.) where the shape fits. Where it does not, its own axes as far as its rank tells them:
  /// (B,1,L,.) without the head axis, (B,H,L,.) with one too many; empty where it does not.
  Tensor<double, 4> value = {};
};

struct Case {
  const Inputs* inputs = nullptr;
  Problem<double> problem = {};
  std::vector<StageShape> stages = {};  ///< of the right computation, in order
  std::map<std::string, GotStage> got = {};
  double eps = 0;  ///< of the coarsest type among the user's stages

  bool has_stage(const std::string& id) const {
    for (const StageShape& stage : stages) {
      if (stage.id == id) return true;
    }
    return false;
  }
};

/// Brings the user's stages to the axes of the problem.
///
/// throws  Error where a stage is none that this configuration has
Case make_case(const Inputs& inputs, const Settings& settings,
               const std::map<std::string, NamedArray>& got);

}  // namespace qkv

// The operator test vectors of the ONNX project, as conformance/onnx/manifest.json lists them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace qkv::test {

struct OnnxCase {
  std::string name;
  std::map<std::string, double> attributes;   ///< absent: the operator's default
  std::map<std::string, std::string> inputs;  ///< role -> path
  std::map<std::string, std::string> outputs;

  double attribute(const std::string& wanted, double otherwise) const {
    const auto found = attributes.find(wanted);
    return found == attributes.end() ? otherwise : found->second;
  }
};

/// Where the vectors are, if they are anywhere.
std::string onnx_folder();

/// All cases of one operator ("Attention").
std::vector<OnnxCase> onnx_cases(const std::string& op);

}  // namespace qkv::test

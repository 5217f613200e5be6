// The operator test vectors of the ONNX project: reading the manifest.
#include "support/onnx.hpp"

#include <fstream>
#include <nlohmann/json.hpp>

namespace qkv::test {

std::string onnx_folder() { return std::string(QKV_SHARED_DIR) + "/conformance/onnx"; }

std::vector<OnnxCase> onnx_cases(const std::string& op) {
  std::ifstream file(onnx_folder() + "/manifest.json");
  std::vector<OnnxCase> cases;
  for (const auto& entry : nlohmann::json::parse(file)) {
    if (entry["op"] != op) continue;
    OnnxCase vector;
    vector.name = entry["name"];
    vector.attributes = entry["attributes"].get<std::map<std::string, double>>();
    for (const auto& [role, path] : entry["inputs"].items())
      vector.inputs[role] = onnx_folder() + "/" + path.get<std::string>();
    for (const auto& [role, path] : entry["outputs"].items())
      vector.outputs[role] = onnx_folder() + "/" + path.get<std::string>();
    cases.push_back(std::move(vector));
  }
  return cases;
}

}  // namespace qkv::test

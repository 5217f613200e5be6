// The trained model of the shared folder whose blocks are Llama's: where it lies, and its names.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace qkv::test {

inline const std::string stories = std::string(QKV_SHARED_DIR) + "/real-weights/stories260k";

/// A bundle's names of a block's weights, and the files' own.
inline const std::vector<std::pair<std::string, std::string>> llama_files = {
    {"wq", "wq"},
    {"wk", "wk"},
    {"wv", "wv"},
    {"wo", "wo"},
    {"norm1_w", "attn_norm"},
    {"norm2_w", "ffn_norm"},
    {"ff_w1", "w1"},
    {"ff_w3", "w3"},
    {"ff_w2", "w2"}};

/// The model's five blocks as layers/0 ... 4 of a bundle.
inline void copy_stories_layers(const std::filesystem::path& bundle) {
  for (const std::string n : {"0", "1", "2", "3", "4"}) {
    std::filesystem::create_directories(bundle / "layers" / n);
    for (const auto& [name, file] : llama_files)
      std::filesystem::copy_file(stories + "/weights/layer" + n + "/" + file + ".npy",
                                 bundle / "layers" / n / (name + ".npy"));
  }
}

}  // namespace qkv::test

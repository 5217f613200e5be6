// Outputs: checks before writing, so that nothing the user had is lost.
#pragma once

#include <string>
#include <vector>

#include "qkv/attention/sizes.hpp"
#include "qkv/io/write.hpp"
#include "qkv/tensor/arithmetic.hpp"
#include "qkv/tensor/tensor.hpp"

namespace qkv::cli {

/// Makes a folder and those above it, unless it is there.
/// throws  Error naming `flag`: it is a file, or cannot be made
void make_folder(const std::string& folder, const std::string& flag);

/// throws  Error where `output` is the very file that one of the inputs was read from
void require_no_input(const std::string& output, const std::vector<std::string>& inputs,
                      const std::string& flag);

/// A cache as it came in: (B,G,S,D), or (G,S,D) where the input had no batch axis.
inline void write_cache(const std::string& path, const Array& cache, const Sizes& sizes) {
  Shape shape = cache.shape;
  if (!sizes.cache_has_batch) shape.erase(shape.begin());
  write_npy(path, reshaped(cache, shape));
}

}  // namespace qkv::cli

// Standard input where it may be a text or a tensor.
#pragma once

#include <string>

namespace qkv::cli {

/// Everything that standard input holds. A part of it that no longer comes is an Error.
std::string read_standard_input();

/// True where what came is a stream of .npy arrays: no UTF-8 text begins with its first byte.
bool is_npy_stream(const std::string& bytes);

/// Puts what was read back, as a file in memory in place of the standard input, so that a pipe can
/// be read once more.
void put_back(const std::string& bytes);

}  // namespace qkv::cli

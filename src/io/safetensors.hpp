// .safetensors: a length of 8 bytes, a JSON object of names, types, shapes and offsets, the data.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "qkv/io/format.hpp"

namespace qkv {

bool safetensors_sniff(const Bytes& bytes);
Array safetensors_read(const Bytes& bytes, std::string_view member, const std::string& where);
std::vector<std::string> safetensors_members(const Bytes& bytes, const std::string& where);

}  // namespace qkv

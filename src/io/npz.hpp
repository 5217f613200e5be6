// .npz: a zip archive of .npy files, as numpy.savez and savez_compressed write it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "qkv/io/format.hpp"

namespace qkv {

bool npz_sniff(const Bytes& bytes);
Array npz_read(const Bytes& bytes, std::string_view member, const std::string& where);
std::vector<std::string> npz_members(const Bytes& bytes, const std::string& where);

}  // namespace qkv

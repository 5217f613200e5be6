// json_file(): a file's JSON.
#pragma once

#include <string>

#include "qkv/base/json.hpp"
#include "qkv/io/read.hpp"

namespace qkv::test {

inline Json json_file(const std::string& path) {
  const Bytes bytes = open_bytes(path);
  return Json::parse({reinterpret_cast<const char*>(bytes.data), bytes.size}, path);
}

}  // namespace qkv::test

// Take: bytes that come one after another, from a descriptor or out of a compressed member.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

namespace qkv {

/// Fills `into` with the next `most` bytes; returns fewer only where they end.
using Take = std::function<std::size_t(std::byte* into, std::size_t most)>;

/// Takes from an open descriptor.
/// throws  Error calling the source `where` when reading fails
Take take_from(int descriptor, const std::string& where);

struct Taken {
  std::shared_ptr<std::byte> memory = nullptr;
  std::size_t size = 0;
};

/// Takes `most` bytes or as many as there are. Memory grows with what really came, so that a claim
/// of terabytes costs nothing.
/// throws  Error when there is no memory for what came
Taken take_growing(const Take& take, std::size_t most);

}  // namespace qkv

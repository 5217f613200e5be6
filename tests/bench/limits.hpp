// What this CPU can do at best: multiply-adds on registers, and reading memory.
#pragma once

#include <cstddef>
#include <span>

#include "qkv/kernels/isa.hpp"

namespace qkv::bench {

/// Floating-point operations a second of `threads` cores together.
double multiply_add_peak(Isa isa, std::size_t threads);

/// Bytes a second that `threads` cores together read of these numbers.
double read_speed(std::span<const float> numbers, std::size_t threads);

}  // namespace qkv::bench

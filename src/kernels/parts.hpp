// Parts: the queries cut so that what comes of each part is the next piece of out.
#pragma once

#include <vector>

#include "qkv/kernels/kernel.hpp"

namespace qkv {

/// True where out has the heads of a query side by side, (B,L,H,Dv) or projected from it.
bool heads_inside(const Sizes& sizes, const Settings& settings);

/// Parts of about `most_bytes` or less, in the order of out's elements. A part of fewer than all
/// positions has 256 of them or more, and one of some heads has whole groups of them, but where one
/// head alone is too much.
///
/// in   bytes_per_row  what a query of one head comes to
std::vector<Part> parts_of(const Sizes& sizes, bool heads_inside, double bytes_per_row,
                           double most_bytes);

}  // namespace qkv

// Stages: those that are held, in order, and indices into them as the user has them.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "qkv/checks/check.hpp"

namespace qkv::checks {

/// The stages of the evidence in the order of the computation: all that are held, or those that
/// checks look at by name where the list is empty.
template <class T>
std::vector<std::pair<std::string, Tensor<T, 4>>> held_stages(const Evidence<T>& evidence);

/// attn*v, (B,H,L,Dv): the stage `heads`, or `out` where one head without W_O makes it both.
template <class T>
Tensor<T, 4> heads_of(const Evidence<T>& evidence);

/// Element [b,h,i,j] of a stage in the axes that the user's tensor has.
template <class T>
std::vector<std::size_t> stage_index(const Evidence<T>& evidence, std::string_view stage,
                                     std::size_t b, std::size_t h, std::size_t i, std::size_t j);

}  // namespace qkv::checks

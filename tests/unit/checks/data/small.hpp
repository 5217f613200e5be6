// Right tensors of one head, computed in NumPy float64 by make_data.py.
#pragma once

// clang-format off
#include <vector>

namespace qkv::test::data {

/// 1x1x2x4
inline const std::vector<double> small_q = {
    1.0, 0.0, 2.0, 0.0, 0.0, 1.0, 0.0, -1.0};

/// 1x1x3x4
inline const std::vector<double> small_k = {
    1.0, 1.0, 0.0, 0.0, 0.0, 2.0, 1.0, 0.0, 1.0, 0.0, 1.0, 1.0};

/// 1x1x3x2
inline const std::vector<double> small_v = {
    1.0, 0.0, 0.0, 1.0, 2.0, 2.0};

/// 1x1x2x3
inline const std::vector<double> small_scores = {
    1.0, 2.0, 3.0, 1.0, 2.0, -1.0};

/// 1x1x2x3
inline const std::vector<double> small_scaled = {
    0.5, 1.0, 1.5, 0.5, 1.0, -0.5};

/// 1x1x2x3
inline const std::vector<double> small_attn = {
    0.18632372322584762, 0.3071958857184984, 0.506480391055654, 0.3314989604240915,
    0.5465493872661796, 0.12195165230972885};

/// 1x1x2x2
inline const std::vector<double> small_heads = {
    1.1992845053371557, 1.3201566678298065, 0.5754022650435492, 0.7904526918856374};

}  // namespace qkv::test::data
// clang-format on

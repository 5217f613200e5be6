// Head statistics as text: a row per head, and what they do not prove.
#pragma once

#include <string>
#include <vector>

#include "qkv/checks/head_statistics.hpp"

namespace qkv {

/// The first 16 heads; shares as percentages, entropy in nats.
std::string head_text(const std::vector<HeadStatistics>& heads);

}  // namespace qkv

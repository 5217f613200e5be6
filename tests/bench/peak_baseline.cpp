// Multiply-adds with the instructions of baseline.
#include "peak.hpp"

namespace qkv::bench {

double multiply_add_baseline() { return multiply_add(); }

}  // namespace qkv::bench

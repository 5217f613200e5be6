// Multiply-adds with the instructions of avx512.
#include "peak.hpp"

namespace qkv::bench {

double multiply_add_avx512() { return multiply_add(); }

}  // namespace qkv::bench

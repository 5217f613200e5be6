// Multiply-adds with the instructions of avx2.
#include "peak.hpp"

namespace qkv::bench {

double multiply_add_avx2() { return multiply_add(); }

}  // namespace qkv::bench

// precision-bf16: stages are rounded to bfloat16.
#include "diagnose/faults.hpp"
#include "precision.hpp"

namespace qkv::faults {

std::vector<Variant> precision_bf16(const Case& the_case) { return precision(the_case, bfloat16); }

}  // namespace qkv::faults

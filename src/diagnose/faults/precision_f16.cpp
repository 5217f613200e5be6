// precision-f16: stages are rounded to float16.
#include "diagnose/faults.hpp"
#include "precision.hpp"

namespace qkv::faults {

std::vector<Variant> precision_f16(const Case& the_case) { return precision(the_case, float16); }

}  // namespace qkv::faults

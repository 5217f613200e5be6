// The linear maps by their role: query, key, value, output.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "qkv/diagnose/case.hpp"

namespace qkv {

struct Role {
  const char* stage;   ///< what the map makes: "q"
  const char* weight;  ///< "wq"
  const char* bias;    ///< "bq"
  const char* symbol;  ///< "Wq", in formulas
  Linear<double> Problem<double>::*linear;
};

/// Query, key, value, in this order.
inline constexpr std::array<Role, 3> projections = {{
    {"q", "wq", "bq", "Wq", &Problem<double>::query},
    {"k", "wk", "bk", "Wk", &Problem<double>::key},
    {"v", "wv", "bv", "Wv", &Problem<double>::value},
}};
inline constexpr Role output_map = {"out", "wo", "bo", "Wo", &Problem<double>::output};

/// The non-empty sets of the first `count` numbers: all, then single ones, then those between.
std::vector<std::vector<std::size_t>> subsets(std::size_t count);

/// What a role's map is applied to: "x", "context" or "concat".
std::string source_of(const Case& the_case, const Role& role);

/// "x·Wq", or "x·Wqᵀ" where the weight is stored out-in, or used in the other orientation.
std::string product_text(const Case& the_case, const Role& role, bool turned = false);

/// Uses the weight in the orientation in which it is not stored. Where it is not square its memory
/// is read as if it were the other one, as C code or a reshape would.
void turn_weight(Linear<double>& linear);

}  // namespace qkv

// Isa: the instruction sets that the fast kernels are built for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace qkv {

enum class Isa { baseline, avx2, avx512 };  ///< what every CPU of the architecture has / wider

/// "avx512": the name in --isa.
std::string_view name(Isa isa);

/// Those that this build has and this CPU runs, the widest first.
std::vector<Isa> isa_list();

/// The widest for "auto", or the one of that name.
///
/// throws  Error: no such name, or this CPU has it not
Isa choose_isa(const std::string& wanted);

}  // namespace qkv

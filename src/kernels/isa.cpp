// Instruction sets: which this CPU has, and the functions built for each.
#include "qkv/kernels/isa.hpp"

#include <algorithm>

#include "kernels/simd/choose.hpp"
#include "qkv/base/error.hpp"
#include "qkv/base/text.hpp"

namespace qkv {

namespace {

struct IsaRow {
  Isa isa;
  std::string_view name;
  std::string_view needs;  ///< as /proc/cpuinfo has it
};

constexpr IsaRow rows[] = {{Isa::avx512, "avx512", "avx512f, avx512dq, avx512bw and avx512vl"},
                           {Isa::avx2, "avx2", "avx2 and fma"},
                           {Isa::baseline, "baseline", ""}};

bool cpu_has(Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::avx512) {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
  }
  if (isa == Isa::avx2) return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
  return isa == Isa::baseline;
}

}  // namespace

std::string_view name(Isa isa) { return std::ranges::find(rows, isa, &IsaRow::isa)->name; }

std::vector<Isa> isa_list() {
  std::vector<Isa> list;
  for (const IsaRow& row : rows) {
    if (cpu_has(row.isa)) list.push_back(row.isa);
  }
  return list;
}

Isa choose_isa(const std::string& wanted) {
  std::vector<std::string> names = {"auto"};
  for (const IsaRow& row : rows) {
    names.emplace_back(row.name);
    if (wanted != "auto" && wanted != row.name) continue;
    if (cpu_has(row.isa)) return row.isa;
    if (wanted == row.name) {
      throw Error(Complaint{.what = "this CPU does not have these instructions",
                            .where = "--isa",
                            .expected = "a CPU with " + std::string(row.needs),
                            .got = wanted,
                            .hint = "--isa auto takes the widest that this CPU has: " +
                                    std::string(name(isa_list().front()))});
    }
  }
  throw Error(Complaint{.what = "unknown instruction set",
                        .where = "--isa",
                        .expected = listed(names, "or"),
                        .got = escaped(wanted)});
}

const SimdFunctions& simd_functions(Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::avx512) return avx512_functions;
  if (isa == Isa::avx2) return avx2_functions;
#endif
  (void)isa;
  return baseline_functions;
}

}  // namespace qkv

// The CPU's matrix unit for bfloat16: CPUID, XCR0 and the request to Linux.
#include "matrix_unit.hpp"

#include <algorithm>

#include "qkv/kernels/isa.hpp"

#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace qkv {

namespace {

#if defined(__x86_64__) && defined(__linux__)

bool cpu_has_it() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return false;
  constexpr unsigned amx_bf16 = 1U << 22, amx_tile = 1U << 24;
  const auto isas = isa_list();
  return (d & amx_bf16) != 0 && (d & amx_tile) != 0 && std::ranges::count(isas, Isa::avx512) != 0;
}

/// True where the system saves the tiles' configuration and data with a thread's registers.
bool system_knows_it() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned osxsave = 1U << 27;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & osxsave) == 0) return false;
  unsigned low = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  constexpr unsigned tile_state = 3U << 17;
  return (low & tile_state) == tile_state;
}

/// Each thread's area for registers grows by 8 KiB with the first use, so Linux wants to be asked.
bool system_lends_it() {
  constexpr long request_permission = 0x1023, tile_data = 18;
  return syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
}

MatrixUnit find_unit() {
  if (!cpu_has_it()) return {false, "one without"};
  if (!system_knows_it() || !system_lends_it())
    return {false, "one with it, which the operating system does not lend"};
  return {true};
}

#else

MatrixUnit find_unit() { return {false, "another system or architecture"}; }

#endif

}  // namespace

const MatrixUnit& matrix_unit() {
  static const MatrixUnit unit = find_unit();
  return unit;
}

}  // namespace qkv

// The kernels: fastest first, the reference last.
#include <vector>

#include "decode.hpp"
#include "qkv/base/error.hpp"
#include "qkv/base/text.hpp"
#include "qkv/kernels/kernel.hpp"
#include "reference.hpp"
#include "tiled.hpp"

namespace qkv {

namespace {

bool always(const Sizes&, const Settings&) { return true; }

constexpr Kernel kernels[] = {
    {"decode", "few queries against many keys, at the speed of memory",
     "at most 16 queries for each key/value head (H/G*L), and no empty axis", true, decode_supports,
     decode, nullptr, decode_workspace},
    {"tiled", "blocks of queries in registers against tiles of keys", "no empty axis", true,
     tiled_supports, tiled, nullptr, tiled_workspace},
    {"reference", "the readable pipeline, a block of queries at a time", "any problem", false,
     always, reference<float>, reference<double>, reference_workspace},
};

/// The arithmetic as --compute calls it.
template <class T>
std::string compute_name(const Settings& settings) {
  if (settings.arithmetic == Arithmetic::float16) return "f16";
  if (settings.arithmetic == Arithmetic::bfloat16) return "bf16";
  return sizeof(T) == sizeof(float) ? "f32" : "f64";
}

/// Kernels that know no double know float32 and no other arithmetic.
template <class T>
bool has_arithmetic(const Kernel& kernel, const Settings& settings) {
  return compute_name<T>(settings) == "f32" || kernel.run_double != nullptr;
}

template <class T>
bool fits(const Kernel& kernel, const Sizes& sizes, const Settings& settings) {
  return has_arithmetic<T>(kernel, settings) && kernel.supports(sizes, settings);
}

}  // namespace

std::span<const Kernel> kernel_list() { return kernels; }

template <class T>
const Kernel& choose_kernel(const std::string& wanted, const Sizes& sizes,
                            const Settings& settings) {
  std::vector<std::string> names = {"auto"};
  for (const Kernel& kernel : kernels) {
    names.emplace_back(kernel.name);
    if (wanted != "auto" && wanted != kernel.name) continue;
    if (fits<T>(kernel, sizes, settings)) return kernel;
    if (wanted == "auto") continue;
    if (!has_arithmetic<T>(kernel, settings)) {
      throw Error(
          Complaint{.what = "kernel computes in float32 only",
                    .where = "--kernel",
                    .expected = "auto or reference with --compute " + compute_name<T>(settings),
                    .got = wanted});
    }
    throw Error(Complaint{.what = "kernel does not support this problem",
                          .where = "--kernel " + wanted,
                          .expected = std::string(kernel.limits),
                          .got = "H " + std::to_string(sizes.H) + ", G " + std::to_string(sizes.G) +
                                 ", L " + std::to_string(sizes.L) + ", S " +
                                 std::to_string(sizes.S),
                          .hint = "--kernel auto takes the fastest that fits"});
  }
  throw Error(Complaint{.what = "unknown kernel",
                        .where = "--kernel",
                        .expected = listed(names, "or"),
                        .got = escaped(wanted)});
}

template const Kernel& choose_kernel<float>(const std::string&, const Sizes&, const Settings&);
template const Kernel& choose_kernel<double>(const std::string&, const Sizes&, const Settings&);

std::string engine_name(const Kernel& kernel, Isa isa) {
  return std::string(kernel.name) + (kernel.by_isa ? "/" + std::string(name(isa)) : "");
}

}  // namespace qkv

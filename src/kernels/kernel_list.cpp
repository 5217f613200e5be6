// The kernels: fastest first, the reference last.
#include <vector>

#include "qkv/base/error.hpp"
#include "qkv/base/text.hpp"
#include "qkv/kernels/kernel.hpp"
#include "reference.hpp"

namespace qkv {

namespace {

bool always(const Sizes&, const Settings&) { return true; }

constexpr Kernel kernels[] = {
    {"reference", "the readable pipeline, a block of queries at a time", always, reference<float>,
     reference<double>},
};

}  // namespace

std::span<const Kernel> kernel_list() { return kernels; }

const Kernel& choose_kernel(const std::string& wanted, const Sizes& sizes,
                            const Settings& settings) {
  std::vector<std::string> names = {"auto"};
  for (const Kernel& kernel : kernels) {
    names.emplace_back(kernel.name);
    const bool fits = kernel.supports(sizes, settings);
    if (wanted == kernel.name && !fits) {
      throw Error(Complaint{.what = "kernel does not support this problem",
                            .where = "--kernel",
                            .expected = "auto",
                            .got = wanted});
    }
    if ((wanted == "auto" || wanted == kernel.name) && fits) return kernel;
  }
  throw Error(Complaint{.what = "unknown kernel",
                        .where = "--kernel",
                        .expected = listed(names, "or"),
                        .got = escaped(wanted)});
}

template <class T>
OnePass<T> attend_in_one_pass(const Problem<T>& problem, const Kernel& kernel, bool wants_lse,
                              const OnProgress& on_progress) {
  const QueryKeyValue<T> prepared = prepare(problem);
  KernelOutput<T> output;
  if constexpr (sizeof(T) == sizeof(float)) {
    output = kernel.run_float(problem, prepared, wants_lse, on_progress);
  } else {
    output = kernel.run_double(problem, prepared, wants_lse, on_progress);
  }
  return {{finish(problem, output.heads), prepared.k, prepared.v}, output.lse};
}

template OnePass<float> attend_in_one_pass(const Problem<float>&, const Kernel&, bool,
                                           const OnProgress&);
template OnePass<double> attend_in_one_pass(const Problem<double>&, const Kernel&, bool,
                                            const OnProgress&);

}  // namespace qkv

// --fast: what it goes with, and what it differs by from float32.
#pragma once

#include <string>

#include "cli/common_options.hpp"
#include "qkv/kernels/fast.hpp"
#include "qkv/report/report.hpp"

namespace qkv::cli {

/// --fast settles what computes and how.
///
/// in      kernel, isa  the words of those options
/// throws  Error naming every option that says otherwise
void require_fast_alone(const std::string& kernel, const std::string& isa, const Request& request,
                        const Sizes& sizes);

/// The error of --fast, in rows that are kept while it runs; it does not run in double.
template <class T>
class FastCheck {
 public:
  explicit FastCheck(const Sizes& sizes) : rows_(sizes) {}

  OnHeads<T> on_heads() {
    if constexpr (sizeof(T) == sizeof(float)) {
      return [this](const Part& part, const KernelRun& run, const KernelOutput<T>& output) {
        rows_.keep(part, run, output);
      };
    } else {
      return {};
    }
  }
  FastReport report(const Problem<T>& problem, const HeadViews& views, std::size_t threads) const {
    FastError error;
    if constexpr (sizeof(T) == sizeof(float)) error = rows_.error(problem, views, threads);
    return {error.relative_rms, error.greatest, error.rows};
  }

 private:
  SampledRows rows_;
};

}  // namespace qkv::cli

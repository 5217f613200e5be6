// --fast: the options that it does not go with.
#include "cli/fast_check.hpp"

#include <algorithm>

#include "cli/describe.hpp"
#include "qkv/base/error.hpp"
#include "qkv/base/text.hpp"

namespace qkv::cli {

void require_fast_alone(const std::string& kernel, const std::string& isa, const Request& request,
                        const Sizes& sizes) {
  Complaints complaints;
  const auto refuse = [&](const std::string& option, const std::string& expected,
                          const std::string& got) {
    complaints.add({.what = "option does not go with --fast",
                    .where = option,
                    .expected = expected,
                    .got = got});
  };
  if (request.compute != Compute::f32) {
    const std::vector<ConfigEntry> config = config_entries(request, sizes);
    refuse("--compute", "f32, in which --fast adds up",
           std::ranges::find(config, "compute", &ConfigEntry::key)->text);
  }
  if (kernel != "auto" && kernel != "tiled") refuse("--kernel", "auto or tiled", escaped(kernel));
  if (isa != "auto") refuse("--isa", "auto", escaped(isa));
  complaints.throw_if_any();
}

}  // namespace qkv::cli

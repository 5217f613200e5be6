// softcap-missing: the cap is not applied.
#include "diagnose/faults.hpp"
#include "qkv/base/text.hpp"
#include "yours.hpp"

namespace qkv::faults {

std::vector<Variant> softcap_missing(const Case& the_case) {
  const Settings& settings = the_case.problem.settings;
  if (!settings.softcap) return {};
  const std::string cap = short_number(*settings.softcap);
  return {{[](Alteration& alteration) {
             alteration.edit("capped", [](const Held& held, const Tensor<double, 4>&) {
               return held.at("scaled");
             });
           },
           yours(the_case, "capped") + " scaled without the cap",
           "apply the cap before the mask: " + cap + "·tanh(scaled/" + cap + ")"}};
}

}  // namespace qkv::faults

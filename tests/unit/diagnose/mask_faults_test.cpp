// Mistakes in masks, made by NumPy (tests/data/diagnose/make_masks.py) and made again by the
// faults.
#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "diagnose/faults.hpp"
#include "diagnose/try_out.hpp"
#include "qkv/base/json.hpp"
#include "support/program.hpp"

using namespace qkv;
using namespace qkv::test;

namespace {

const std::string folder = std::string(QKV_TEST_DATA) + "/diagnose";

struct Planted {
  std::string name, fault;
  Inputs inputs;
  Settings settings;
  std::map<std::string, NamedArray> got;
};

NamedArray member(const std::string& name) {
  return {tensor_file(folder + "/masks.npz:" + name), name};
}

std::optional<NamedArray>& input(Inputs& inputs, const std::string& key) {
  const std::map<std::string, std::optional<NamedArray> Inputs::*> members = {
      {"q", &Inputs::q},
      {"k", &Inputs::k},
      {"v", &Inputs::v},
      {"wo", &Inputs::wo},
      {"mask", &Inputs::mask},
      {"key_padding", &Inputs::key_padding},
      {"past_k", &Inputs::past_k},
      {"past_v", &Inputs::past_v},
      {"lengths", &Inputs::lengths}};
  return inputs.*members.at(key);
}

Settings settings_of(const Json& json) {
  Settings settings;
  for (const auto& [key, value] : json.members()) {
    if (key == "heads") settings.heads = static_cast<std::size_t>(value.number());
    if (key == "kv_heads") settings.kv_heads = static_cast<std::size_t>(value.number());
    if (key == "causal") settings.causal = value.flag();
    if (key == "causal_align") settings.causal_align = CausalAlign::end;
    if (key == "window") {
      settings.window = Window{static_cast<long long>(value.items()[0].number()),
                               static_cast<long long>(value.items()[1].number())};
    }
  }
  return settings;
}

std::vector<Planted> all_planted() {
  std::ifstream file(folder + "/masks.json");
  std::stringstream text;
  text << file.rdbuf();
  std::vector<Planted> all;
  const Json listed = Json::parse(text.str(), "masks.json");
  for (const Json& json : listed.items()) {
    Planted planted;
    planted.fault = json.find("fault")->text();
    planted.name = planted.fault + " " + json.find("form")->text();
    planted.settings = settings_of(*json.find("settings"));
    for (const auto& [key, name] : json.find("inputs")->members())
      input(planted.inputs, key) = member(name.text());
    for (const auto& [key, name] : json.find("got")->members())
      planted.got[key] = member(name.text());
    all.push_back(std::move(planted));
  }
  return all;
}

using Variants = std::vector<Variant> (*)(const Case&);

Variants variants_of(const std::string& fault) {
  static const std::map<std::string, Variants> all = {
      {"mask-missing", faults::mask_missing},
      {"mask-inverted", faults::mask_inverted},
      {"mask-after-softmax", faults::mask_after_softmax},
      {"mask-multiplied", faults::mask_multiplied},
      {"mask-bool-added", faults::mask_bool_added},
      {"mask-fill-small", faults::mask_fill_small},
      {"mask-fill-overflow", faults::mask_fill_overflow},
      {"mask-transposed", faults::mask_transposed},
      {"mask-axis", faults::mask_axis},
      {"mask-head-order", faults::mask_head_order},
      {"padding-on-queries", faults::padding_on_queries},
      {"causal-missing", faults::causal_missing},
      {"causal-strict", faults::causal_strict},
      {"causal-one-ahead", faults::causal_one_ahead},
      {"causal-reversed", faults::causal_reversed},
      {"causal-align", faults::causal_align},
      {"window-off-by-one", faults::window_off_by_one},
      {"empty-rows-uniform", faults::empty_rows_uniform},
      {"empty-rows-nan", faults::empty_rows_nan},
      {"empty-rows-unmasked", faults::empty_rows_unmasked}};
  return all.at(fault);
}

bool all_match(const std::vector<StageFinding>& findings, std::size_t count) {
  if (findings.size() != count) return false;
  for (const StageFinding& finding : findings) {
    if (finding.status != StageStatus::match) return false;
  }
  return true;
}

using Ids = std::vector<std::string>;
const Ids all_stages = {"scores", "scaled", "masked", "attn", "heads", "concat", "out"};

/// The case as a user brings it who has these of the stages.
Case case_of(const Planted& planted, const Ids& stages) {
  std::map<std::string, NamedArray> got;
  for (const std::string& id : stages) {
    if (planted.got.contains(id)) got[id] = planted.got.at(id);
  }
  return make_case(planted.inputs, planted.settings, got);
}

/// The ways of making this mistake that give every one of these stages; the right computation does
/// not.
std::size_t explaining(const Planted& planted, const Ids& stages) {
  const Case the_case = case_of(planted, stages);
  const std::size_t given = the_case.got.size();
  CHECK_FALSE(all_match(try_out(the_case, {.problem = the_case.problem}), given));
  std::size_t count = 0;
  for (const Variant& variant : variants_of(planted.fault)(the_case)) {
    Alteration alteration{.problem = the_case.problem};
    variant.apply(alteration);
    if (all_match(try_out(the_case, alteration), given)) ++count;
    CHECK_FALSE(variant.message.empty());
    CHECK_FALSE(variant.fix.empty());
  }
  return count;
}

}  // namespace

TEST_CASE("mask faults: each mistake that NumPy made is made again, stage by stage") {
  for (const Planted& planted : all_planted()) {
    INFO(planted.name);
    CHECK(explaining(planted, all_stages) > 0);
  }
}

TEST_CASE("mask faults: attn and out are enough to make the mistake again") {
  for (const Planted& planted : all_planted()) {
    INFO(planted.name);
    CHECK(explaining(planted, {"attn", "out"}) > 0);
  }
}

TEST_CASE("mask faults: out alone is enough to make the mistake again") {
  for (const Planted& planted : all_planted()) {
    INFO(planted.name);
    CHECK(explaining(planted, {"out"}) > 0);
  }
}

TEST_CASE("mask faults: diagnose names each first, whatever stages are given") {
  for (const Planted& planted : all_planted()) {
    for (const Ids& stages : {all_stages, Ids{"attn", "out"}, Ids{"out"}}) {
      const Case the_case = case_of(planted, stages);
      const Diagnosis diagnosis = diagnose(the_case);
      INFO(planted.name << " from " << stages.size() << " stages");
      REQUIRE_FALSE(diagnosis.faults.empty());
      const FoundFault& first = diagnosis.faults.front();
      if (first.id == planted.fault) continue;
      // Where masked is not given, a fill of 1e-9 is a score of 0; and NaN everywhere is NaN.
      const bool same_numbers =
          (planted.fault == "mask-fill-small" && first.id == "mask-multiplied") ||
          (planted.fault == "mask-fill-overflow" && stages.size() == 1);
      CHECK(same_numbers);
      CHECK(std::ranges::find(first.ties, planted.fault) != first.ties.end());
    }
  }
}

// Kernels against the reference: every option, alone and with every other.
#include "unit/kernels/options.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "qkv/tensor/random.hpp"
#include "support/arrays.hpp"

namespace qkv::test {

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

/// A 0/1 mask that hides about a third, and all of a row now and then.
NamedArray bool_mask(const Shape& shape) {
  std::size_t count = 1;
  for (const std::size_t axis : shape) count *= axis;
  std::vector<double> values(count);
  Random random(3, "mask");
  for (std::size_t n = 0; n < count; ++n) {
    const bool empty = n / shape.back() % 7 == 3 && shape.size() > 1;
    values[n] = !empty && random.uniform() > 0.33 ? 1 : 0;
  }
  return array_of(shape, values, DType::boolean);
}

/// A float mask of small numbers, some of them -Inf, and all of a row now and then.
NamedArray float_mask(const Shape& shape) {
  NamedArray mask = bool_mask(shape);
  std::vector<double> values(element_count(shape));
  Random random(5, "added");
  for (std::size_t n = 0; n < values.size(); ++n) {
    const auto kept = static_cast<int>(element(mask.array, n));
    values[n] = kept == 1 ? static_cast<double>(static_cast<float>(random.normal())) : -inf;
  }
  return array_of(shape, values, DType::float32);
}

/// The first `past` keys come as a cache.
void cached(TwinCase& twin, std::size_t past) {
  const std::size_t fresh = twin.S - past;
  twin.inputs.k = named(as_array(normal_tensor({twin.B, twin.G, fresh, twin.D}, "k")));
  twin.inputs.v = named(as_array(normal_tensor({twin.B, twin.G, fresh, twin.Dv}, "v")));
  twin.inputs.past_k = named(as_array(normal_tensor({twin.B, twin.G, past, twin.D}, "past k")));
  twin.inputs.past_v = named(as_array(normal_tensor({twin.B, twin.G, past, twin.Dv}, "past v")));
}

}  // namespace

std::vector<TwinOption> twin_options() {
  return {
      {"nothing", [](TwinCase&) {}},
      {"scale 0.3", [](TwinCase& t) { t.settings.scale = 0.3; }},
      {"scale -0.7", [](TwinCase& t) { t.settings.scale = -0.7; }},
      {"scale 0", [](TwinCase& t) { t.settings.scale = 0.0; }},
      {"softcap 1.5", [](TwinCase& t) { t.settings.softcap = 1.5; }},
      {"softcap 50", [](TwinCase& t) { t.settings.softcap = 50; }},
      {"causal", [](TwinCase& t) { t.settings.causal = true; }},
      {"causal from the end",
       [](TwinCase& t) {
         t.settings.causal = true;
         t.settings.causal_align = CausalAlign::end;
       }},
      {"window 20,3",
       [](TwinCase& t) {
         t.settings.window = Window{20, 3};
       }},
      {"window 0, not shifted",
       [](TwinCase& t) {
         t.settings.window = Window{0, -1};
         t.settings.window_shifts = false;
       }},
      {"alibi", [](TwinCase& t) { t.settings.alibi = true; }},
      {"sinks",
       [](TwinCase& t) {
         std::vector<double> sinks;
         for (std::size_t h = 0; h < t.H; ++h) sinks.push_back(1.5 * static_cast<double>(h) - 1);
         t.inputs.sinks = array_of({t.H}, sinks, DType::float32);
       }},
      {"qk-norm", [](TwinCase& t) { t.settings.qk_norm = QkNorm::rms; }},
      {"cache", [](TwinCase& t) { cached(t, 40); }},
      {"lengths",
       [](TwinCase& t) {
         t.inputs.lengths = array_of({t.B}, {141, 0}, DType::int64);
       }},
      {"key padding",
       [](TwinCase& t) {
         t.inputs.key_padding = bool_mask({t.B, t.S});
       }},
      {"bool mask of all",
       [](TwinCase& t) {
         t.inputs.mask = bool_mask({t.B, t.H, t.L, t.S});
       }},
      {"bool mask of keys",
       [](TwinCase& t) {
         t.inputs.mask = bool_mask({1, 1, 1, t.S});
       }},
      {"bool mask of queries",
       [](TwinCase& t) {
         t.inputs.mask = bool_mask({t.L, 1});
       }},
      {"float mask of all",
       [](TwinCase& t) {
         t.inputs.mask = float_mask({t.B, t.H, t.L, t.S});
       }},
      {"float mask of heads",
       [](TwinCase& t) {
         t.inputs.mask = float_mask({t.H, 1, t.S});
       }},
      {"float mask of queries",
       [](TwinCase& t) {
         t.inputs.mask = float_mask({t.L, 1});
       }},
      {"fill -1e9",
       [](TwinCase& t) {
         t.settings.fill = {Fill::Kind::number, -1e9};
       }},
      {"fill 0.5",
       [](TwinCase& t) {
         t.settings.fill = {Fill::Kind::number, 0.5};
       }},
      {"fill lowest",
       [](TwinCase& t) {
         t.settings.fill = {Fill::Kind::lowest, 0};
       }},
      {"empty rows nan", [](TwinCase& t) { t.settings.empty_rows = EmptyRows::nan; }},
      {"empty rows uniform", [](TwinCase& t) { t.settings.empty_rows = EmptyRows::uniform; }},
  };
}

TwinCase with_options(const std::vector<TwinOption>& options, Queries queries) {
  const std::size_t L = queries == Queries::many ? 19 : 3, S = queries == Queries::many ? 150 : 530;
  TwinCase twin = twin_case({.B = 2, .H = 4, .G = 2, .L = L, .S = S, .D = 9, .Dv = 6});
  for (const TwinOption& option : options) option.apply(twin);
  return twin;
}

}  // namespace qkv::test

using namespace qkv;
using namespace qkv::test;

TEST_CASE("kernels: every option and every pair of them as the reference has them") {
  const auto options = twin_options();
  for (std::size_t first = 0; first < options.size(); ++first) {
    for (std::size_t second = first; second < options.size(); ++second) {
      INFO(options[first].name << ", " << options[second].name);
      for (const Queries queries : both_kinds)
        CHECK(departures(with_options({options[first], options[second]}, queries)) == "");
    }
  }
}

TEST_CASE(
    "kernels: hidden keys of every fill, in rows that see some keys and in rows that see none") {
  const auto options = twin_options();
  for (const Fill fill : {Fill{}, Fill{Fill::Kind::number, -1e9}, Fill{Fill::Kind::number, -3},
                          Fill{Fill::Kind::number, 1e9}, Fill{Fill::Kind::lowest, 0}}) {
    for (const EmptyRows empty : {EmptyRows::zero, EmptyRows::uniform}) {
      for (const TwinOption& option : options) {
        INFO(option.name << ", fill " << fill.number << ", empty rows " << static_cast<int>(empty));
        for (const Queries queries : both_kinds) {
          TwinCase twin = with_options({option}, queries);
          twin.settings.causal = true;
          twin.settings.causal_align = CausalAlign::end;
          twin.settings.window = Window{11, -1};
          twin.settings.fill = fill;
          twin.settings.empty_rows = empty;
          CHECK(departures(twin) == "");
        }
      }
    }
  }
}

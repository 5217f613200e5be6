// Kernels against the reference: NaN and infinities in every input, and values at the edge of
// float.
#include <catch2/catch.hpp>
#include <limits>
#include <utility>

#include "unit/kernels/options.hpp"

using namespace qkv;
using namespace qkv::test;

namespace {

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float nan_value = std::numeric_limits<float>::quiet_NaN();

/// Writes a value at a place that lies `share` of the way through the elements.
NamedArray planted(const NamedArray& from, double share, float value) {
  auto tensor = as_rank<float, 4>(from.array).clone();
  const auto at = static_cast<std::size_t>(share * static_cast<double>(tensor.size()));
  tensor.data()[at] = value;
  return named(as_array(tensor));
}

}  // namespace

TEST_CASE("kernels: NaN and infinities in q, k and v come out where the reference lets them") {
  for (const TwinOption& option : twin_options()) {
    for (const auto& [value, share] : {std::pair{nan_value, 0.49}, {inf, 0.999}, {-inf, 0.0}}) {
      INFO(option.name << ", " << value << " at " << share);
      for (const Queries queries : both_kinds) {
        const TwinCase twin = with_options({option}, queries);
        TwinCase q = twin, k = twin, v = twin;
        q.inputs.q = planted(*q.inputs.q, share, value);
        k.inputs.k = planted(*k.inputs.k, share, value);
        v.inputs.v = planted(*v.inputs.v, share, value);
        CHECK(departures(q) == "");
        CHECK(departures(k) == "");
        CHECK(departures(v) == "");
      }
    }
  }
}

TEST_CASE("kernels: NaN and infinities in a float mask come out where the reference lets them") {
  for (const TwinOption& option : twin_options()) {
    for (const Queries queries : both_kinds) {
      TwinCase twin = with_options({option}, queries);
      if (twin.inputs.mask) continue;
      auto mask = normal_tensor({twin.B, twin.H, twin.L, twin.S}, "mask");
      mask(0, 1, 2, 5) = nan_value;
      mask(1, 0, 0, twin.S - 1) = inf;
      mask(1, 3, twin.L - 1, 77) = -inf;
      INFO(option.name);
      twin.inputs.mask = named(as_array(mask));
      CHECK(departures(twin) == "");
    }
  }
}

TEST_CASE("kernels: a query of few keys: all of them NaN, infinite or hidden") {
  for (const std::size_t L : {std::size_t{1}, std::size_t{17}}) {
    for (const float value : {nan_value, inf, -inf}) {
      INFO("L " << L << ", " << value);
      TwinCase twin = twin_case({.L = L, .S = 3});
      auto q = as_rank<float, 4>(twin.inputs.q->array).clone();
      for (float& element : q.row(0, 1, 0)) element = value;
      twin.inputs.q = named(as_array(q));
      CHECK(departures(twin) == "");
      // Every score -Inf: the query sees nothing.
      auto k = as_rank<float, 4>(twin.inputs.k->array).clone();
      for (float& element : k.elements()) element = 1;
      twin.inputs.k = named(as_array(k));
      CHECK(departures(twin) == "");
      twin.settings.empty_rows = EmptyRows::uniform;
      CHECK(departures(twin) == "");
    }
  }
}

TEST_CASE("kernels: an infinite value meets each weight as it is, be it small or 0") {
  for (const std::size_t L : {std::size_t{1}, std::size_t{40}}) {
    for (const double sigma : {1.0, 30.0}) {
      TwinCase twin = twin_case({.L = L, .S = 300, .sigma = sigma});
      auto v = as_rank<float, 4>(twin.inputs.v->array).clone();
      v(0, 0, 7, 0) = inf;
      v(0, 0, 290, 1) = -inf;
      v(0, 0, 140, 2) = nan_value;
      twin.inputs.v = named(as_array(v));
      INFO("L " << L << ", sigma " << sigma);
      CHECK(departures(twin) == "");
    }
  }
}

TEST_CASE("kernels: a mean of the greatest floats does not overflow on the way") {
  for (const std::size_t L : {std::size_t{1}, std::size_t{40}}) {
    TwinCase twin = twin_case({.L = L, .S = 300});
    auto v = as_rank<float, 4>(twin.inputs.v->array).clone();
    for (float& element : v.elements()) element = element > 0 ? 3e38F : 2e38F;
    twin.inputs.v = named(as_array(v));
    INFO("L " << L);
    CHECK(departures(twin) == "");
  }
}

// Random bundle: which files init writes, and how their numbers are drawn.
#include "cli/random_bundle.hpp"

#include <cmath>

namespace qkv::cli {

namespace {

using Kind = Part::Kind;

void add_linear(const std::string& weight, const std::string& bias, std::size_t in, std::size_t out,
                bool biased, std::vector<Part>& parts) {
  parts.push_back({weight, {in, out}, Kind::weight, in, out});
  if (biased) parts.push_back({bias, {out}, Kind::bias, in, out});
}

void add_weights(const std::string& folder, const Widths& w, const PartChoice& choice,
                 std::vector<Part>& parts) {
  const auto linear = [&](const std::string& role, std::size_t in, std::size_t out) {
    add_linear(folder + "w" + role, folder + "b" + role, in, out, choice.bias, parts);
  };
  linear("q", w.E, w.H * w.D);
  linear("k", w.E, w.G * w.D);
  linear("v", w.E, w.G * w.Dv);
  // Several heads are mixed again; one is the result itself, but in a block, where x is added.
  if (w.H > 1 || w.F > 0) linear("o", w.H * w.Dv, w.E);
  if (w.F == 0) return;
  add_linear(folder + "ff_w1", folder + "ff_b1", w.E, w.F, choice.bias, parts);
  if (choice.gated) add_linear(folder + "ff_w3", "", w.E, w.F, false, parts);
  add_linear(folder + "ff_w2", folder + "ff_b2", w.F, w.E, choice.bias, parts);
  for (const char* norm : {"norm1", "norm2"}) {
    parts.push_back({folder + norm + "_w", {w.E}, Kind::ones});
    parts.push_back({folder + norm + "_b", {w.E}, Kind::zeros});
  }
}

/// Evenly between -bound and bound.
double symmetric(double bound, Random& random) { return (2 * random.uniform() - 1) * bound; }

double draw_weight(const Part& part, Init init, Random& random) {
  const auto in = static_cast<double>(part.fan_in), out = static_cast<double>(part.fan_out);
  switch (init) {
    case Init::xavier:
      return symmetric(std::sqrt(6 / (in + out)), random);
    case Init::kaiming:
      return symmetric(std::sqrt(6 / in), random);
    case Init::uniform:
      return random.uniform();
    case Init::normal:
      return 0.02 * random.normal();
  }
  return 0;
}

}  // namespace

std::vector<Part> bundle_parts(const Widths& widths, const PartChoice& choice) {
  std::vector<Part> parts = {{"x", {widths.B, widths.L, widths.E}}};
  if (choice.context) parts.push_back({"context", {widths.B, widths.S, widths.E}});
  if (widths.layers == 0) add_weights("", widths, choice, parts);
  for (std::size_t n = 0; n < widths.layers; ++n)
    add_weights("layers/" + std::to_string(n) + "/", widths, choice, parts);
  return parts;
}

float draw(const Part& part, Init init, Random& random) {
  switch (part.kind) {
    case Kind::input:
      return static_cast<float>(random.normal());
    case Kind::weight:
      return static_cast<float>(draw_weight(part, init, random));
    case Kind::bias:
      return static_cast<float>((2 * random.uniform() - 1) /
                                std::sqrt(static_cast<double>(part.fan_in)));
    case Kind::ones:
      return 1;
    case Kind::zeros:
      return 0;
  }
  return 0;
}

}  // namespace qkv::cli

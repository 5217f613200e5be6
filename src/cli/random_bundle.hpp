// Random bundle: which files init writes, and how their numbers are drawn.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "qkv/tensor/random.hpp"
#include "qkv/tensor/shape.hpp"

namespace qkv::cli {

enum class Init { xavier, kaiming, uniform, normal };

struct Widths {
  std::size_t B, L, S, E, H, G, D, Dv;
  std::size_t F = 0;       ///< of the feed-forward; 0: no block
  std::size_t layers = 0;  ///< blocks in layers/0 ... N-1; 0: one, or none, beside x
};

/// One file of the bundle.
struct Part {
  enum class Kind { input, weight, bias, ones, zeros };
  std::string name;  ///< "wq", "layers/0/wq"; numbers of another name are others
  Shape shape;
  Kind kind = Kind::input;
  std::size_t fan_in = 0, fan_out = 0;  ///< widths of the linear map that it belongs to
};

struct PartChoice {
  bool context = false;
  bool bias = false;
  bool gated = false;
};

/// The files of a bundle, weights in-out, in the order in which they are written.
std::vector<Part> bundle_parts(const Widths& widths, const PartChoice& choice);

/// One element of a part.
///
/// inputs   N(0, 1)
/// biases   U(-a, a), a = 1/sqrt(fan_in)             torch.nn.Linear
/// xavier   U(-a, a), a = sqrt(6/(fan_in+fan_out))   Glorot & Bengio 2010, equation 16
/// kaiming  U(-a, a), a = sqrt(6/fan_in)             He et al. 2015 (arXiv:1502.01852), equation
///                                                   10, as a uniform; torch's kaiming_uniform_
/// uniform  U(0, 1)                                  torch.rand
/// normal   N(0, 0.02^2)                             GPT-2 and BERT
float draw(const Part& part, Init init, Random& random);

}  // namespace qkv::cli

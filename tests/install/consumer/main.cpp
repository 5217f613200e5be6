// Attention of two queries over three keys through the installed library; the weights are known
// from paper.
#include <cmath>
#include <cstdio>
#include <qkv/attention/pipeline.hpp>

int main() {
  auto q = qkv::Tensor<double, 2>::make({2, 2});
  auto k = qkv::Tensor<double, 2>::make({3, 2});
  auto v = qkv::Tensor<double, 2>::make({3, 2});
  q(0, 0) = q(1, 1) = k(0, 0) = k(1, 1) = k(2, 0) = k(2, 1) = 1;
  for (int n = 0; n < 6; ++n) v(n / 2, n % 2) = n + 1;

  qkv::Inputs inputs;
  inputs.q = qkv::NamedArray{.array = qkv::as_array(q), .where = "q"};
  inputs.k = qkv::NamedArray{.array = qkv::as_array(k), .where = "k"};
  inputs.v = qkv::NamedArray{.array = qkv::as_array(v), .where = "v"};
  double weight = 0;
  const auto done = qkv::attend<double>(qkv::make_problem<double>(inputs, {}),
                                        [&](std::string_view stage, qkv::Tensor<double, 4>& value) {
                                          if (stage == "attn") weight = value(0, 0, 0, 0);
                                        });
  const double out = done.out.elements()[2];
  std::printf("%.7f %.7f\n", weight, out);
  // e^0.7071068 / (2 e^0.7071068 + 1), and the first column of the second query's output.
  return std::abs(weight - 0.4011121) < 5e-8 && std::abs(out - 3.4066726) < 5e-8 ? 0 : 1;
}

// Columns of a fused weight: which channel of q, k or v each of them makes.
#include "diagnose/faults/fused_columns.hpp"

#include "diagnose/faults/roles.hpp"

namespace qkv {

namespace {

double& at(Linear<double>& linear, std::size_t in, std::size_t out) {
  return linear.order == WeightOrder::in_out ? linear.weight(in, out) : linear.weight(out, in);
}
double at(const Linear<double>& linear, std::size_t in, std::size_t out) {
  return linear.order == WeightOrder::in_out ? linear.weight(in, out) : linear.weight(out, in);
}

/// A map of the same size and orientation whose elements may be written.
Linear<double> blank(const Linear<double>& like) {
  Linear<double> linear = like;
  linear.weight = Tensor<double, 2>::make(like.weight.sizes());
  return linear;
}

}  // namespace

std::vector<FusedColumn> fused_columns(const Sizes& sizes, QkvOrder order,
                                       const std::array<std::size_t, 3>& parts) {
  const std::size_t blocks = order == QkvOrder::blocks ? 1 : sizes.G;
  const std::array<std::size_t, 3> widths = {sizes.H * sizes.D / blocks, sizes.G * sizes.D / blocks,
                                             sizes.G * sizes.Dv / blocks};
  std::vector<FusedColumn> columns;
  for (std::size_t block = 0; block < blocks; ++block) {
    for (const std::size_t part : parts) {
      for (std::size_t n = 0; n < widths[part]; ++n)
        columns.push_back({part, block * widths[part] + n});
    }
  }
  return columns;
}

Linear<double> fused_weight(const Case& the_case) {
  Linear<double> fused;
  fused.weight = as_rank<double, 2>(the_case.inputs->wqkv->array);
  fused.order = the_case.problem.query.order;
  return fused;
}

void read_fused_weight(const Linear<double>& fused, const std::vector<FusedColumn>& columns,
                       Problem<double>& problem) {
  for (std::size_t part = 0; part < projections.size(); ++part) {
    Linear<double>& linear = problem.*projections[part].linear;
    const std::size_t in = fused.in(), out = linear.out();
    linear.order = fused.order;
    linear.weight = fused.order == WeightOrder::in_out ? Tensor<double, 2>::make({in, out})
                                                       : Tensor<double, 2>::make({out, in});
    for (std::size_t column = 0; column < columns.size(); ++column) {
      if (columns[column].part != part) continue;
      for (std::size_t e = 0; e < in; ++e)
        at(linear, e, columns[column].channel) = at(fused, e, column);
    }
  }
}

void reread_columns(const std::vector<FusedColumn>& meant, const std::vector<FusedColumn>& read,
                    bool with_bias, Problem<double>& problem) {
  const std::array<Linear<double>, 3> old = {problem.query, problem.key, problem.value};
  for (const Role& role : projections) {
    Linear<double>& linear = problem.*role.linear;
    linear = blank(linear);
    if (with_bias) linear.bias = Tensor<double, 1>::make({linear.out()});
  }
  for (std::size_t column = 0; column < meant.size(); ++column) {
    const Linear<double>& from = old[meant[column].part];
    Linear<double>& to = problem.*projections[read[column].part].linear;
    const std::size_t source = meant[column].channel, target = read[column].channel;
    for (std::size_t e = 0; e < to.in(); ++e) at(to, e, target) = at(from, e, source);
    if (with_bias && !from.bias.empty()) to.bias(target) = from.bias(source);
  }
}

}  // namespace qkv

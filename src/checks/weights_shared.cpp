// weights.shared: W_Q, W_K and W_V are three different matrices.
#include <optional>
#include <string>
#include <vector>

#include "checks.hpp"
#include "given.hpp"
#include "qkv/base/text.hpp"
#include "rows.hpp"

namespace qkv::checks {

namespace {

/// A projection: what it is, its file, and its elements.
struct Projection {
  std::string role, where;
  Array weight;
};

/// `count` groups of `width` rows, the first at row `first`, `step` apart.
struct Block {
  std::size_t first, step, width, count;
};

/// (count, width, E) out of a matrix whose axis 0 is the output.
Array block_of(const Array& out_in, const Block& block) {
  Array part = out_in;
  const std::ptrdiff_t row = out_in.strides[0];
  part.data += row * static_cast<std::ptrdiff_t>(block.first);
  part.shape = {block.count, block.width, out_in.shape[1]};
  part.strides = {row * static_cast<std::ptrdiff_t>(block.step), row, out_in.strides[1]};
  return part;
}

/// The fused weight with its output axis first; nothing where its shape is neither.
std::optional<Array> outputs_first(const NamedArray& fused, const Settings& settings,
                                   std::size_t in, std::size_t out) {
  const Array& array = fused.array;
  const bool in_out = array.shape == Shape{in, out}, out_in = array.shape == Shape{out, in};
  if (!in_out && !out_in) return std::nullopt;
  // Where both fit, it is read in-out unless the order or the weight's name says otherwise.
  const bool said_out_in = settings.weight_order == WeightOrder::out_in ||
                           (settings.weight_order == WeightOrder::automatic && fused.known_out_in);
  return in_out && !(out_in && said_out_in) ? transposed(array, {1, 0}) : array;
}

/// q, k and v out of a fused weight, each as (groups, rows of a group, E).
std::vector<Projection> split_fused(const NamedArray& fused, const Settings& settings,
                                    const Sizes& sizes) {
  const std::size_t H = sizes.H, G = sizes.G, D = sizes.D, Dv = sizes.Dv;
  if (fused.array.shape.size() != 2 || D == 0 || G == 0) return {};
  const auto array = outputs_first(fused, settings, sizes.E, H * D + G * D + G * Dv);
  if (!array) return {};
  // One group is r q k v: per head, r = 1. In blocks the groups of q, of k and of v lie together.
  const std::size_t q_width = H / G * D, group = q_width + D + Dv;
  const bool blocks = settings.qkv_order == QkvOrder::blocks;
  const Block q{0, blocks ? q_width : group, q_width, G};
  const Block k{blocks ? H * D : q_width, blocks ? D : group, D, G};
  const Block v{blocks ? H * D + G * D : q_width + D, blocks ? Dv : group, Dv, G};
  return {{"q", fused.where, block_of(*array, q)},
          {"k", fused.where, block_of(*array, k)},
          {"v", fused.where, block_of(*array, v)}};
}

bool equal(const Array& a, const Array& b) {
  if (a.shape != b.shape) return false;
  Array row_a = a, row_b = b;
  row_a.shape.erase(row_a.shape.begin());
  row_a.strides.erase(row_a.strides.begin());
  row_b.shape.erase(row_b.shape.begin());
  row_b.strides.erase(row_b.strides.begin());
  const std::size_t count = element_count(row_a.shape);
  std::vector<double> values_a(count), values_b(count);
  for (std::size_t row = 0; row < a.shape[0]; ++row) {
    copy_elements(row_a, values_a.data());
    copy_elements(row_b, values_b.data());
    if (values_a != values_b) return false;
    row_a.data += a.strides[0];
    row_b.data += b.strides[0];
  }
  return true;
}

std::vector<Projection> projections(const Inputs& inputs, const Settings& settings,
                                    const Sizes& sizes) {
  if (inputs.wqkv) return split_fused(*inputs.wqkv, settings, sizes);
  std::vector<Projection> list;
  const auto add = [&](const char* role, const std::optional<NamedArray>& weight) {
    if (weight && weight->array.shape.size() == 2) {
      list.push_back({role, weight->where, weight->array});
    }
  };
  add("wq", inputs.wq);
  add("wk", inputs.wk);
  add("wv", inputs.wv);
  return list;
}

/// "wk.npy = wv.npy", "k = v in qkv.npy"
std::string equality(const Projection& a, const Projection& b) {
  return a.where == b.where ? a.role + " = " + b.role + " in " + a.where
                            : a.where + " = " + b.where;
}

}  // namespace

/// No two of W_Q, W_K, W_V hold the same numbers. A warning: a model may tie them on purpose.
///
/// edge    two of different shapes cannot be the same, and are not compared
template <class T>
CheckResult weights_shared(const Evidence<T>& evidence) {
  if (evidence.inputs == nullptr) return skipped("weights", "needs the input files");
  const auto list = projections(*evidence.inputs, evidence.settings, evidence.sizes);
  if (list.size() < 2) {
    return skipped("weights", evidence.inputs->wqkv
                                  ? "the fused weight cannot be split into q, k and v"
                                  : "needs W_Q, W_K and W_V");
  }
  std::size_t compared = 0;
  std::vector<std::string> same;
  CheckResult result{.status = Status::pass, .limit = 0};
  for (const Projection& projection : list) {
    result.stage += (result.stage.empty() ? "" : ",") + projection.role;
  }
  for (std::size_t a = 0; a < list.size(); ++a) {
    for (std::size_t b = a + 1; b < list.size(); ++b) {
      if (list[a].weight.shape != list[b].weight.shape) continue;
      ++compared;
      if (!equal(list[a].weight, list[b].weight)) continue;
      if (same.empty()) result.stage = list[a].role + "," + list[b].role;
      same.push_back(equality(list[a], list[b]));
    }
  }
  if (compared == 0) {
    return skipped(result.stage, "W_Q, W_K and W_V differ in shape: they cannot be the same");
  }
  result.value = static_cast<double>(same.size());
  if (same.empty()) {
    result.message = "0 of " + std::to_string(compared) +
                     (compared == 1 ? " pair holds" : " pairs hold") + " the same numbers";
    return result;
  }
  result.status = Status::warn;
  result.message = "the same numbers: " + listed(same);
  result.hint =
      "one matrix in two roles makes the model poorer: were they meant to be one variable?";
  return result;
}

template CheckResult weights_shared(const Evidence<float>&);
template CheckResult weights_shared(const Evidence<double>&);

}  // namespace qkv::checks

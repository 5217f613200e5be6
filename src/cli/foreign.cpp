// Foreign tensors: sizes, rules and evidence.
#include "cli/foreign.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cli/foreign_sizes.hpp"
#include "qkv/attention/mask_shape.hpp"
#include "qkv/attention/read_visibility.hpp"
#include "qkv/attention/split_heads.hpp"
#include "qkv/attention/stage_list.hpp"
#include "qkv/base/error.hpp"
#include "qkv/base/text.hpp"

namespace qkv::cli {

namespace {

/// One tensor by head: (B,H,L,.).
Tensor<double, 4> by_head(const NamedArray& named, std::size_t heads, Layout layout) {
  Array array = named.array;
  if (array.shape.size() == 4) {
    return as_rank<double, 4>(layout == Layout::blhd ? transposed(array, {0, 2, 1, 3}) : array);
  }
  Shape shape = array.shape;
  if (shape.size() == 2) shape.insert(shape.begin(), 1);
  return split_heads(as_rank<double, 3>(reshaped(array, shape)), heads);
}

/// Hidden is what masked has at -Inf.
Visibility<double> from_masked(const Tensor<double, 4>& masked, const Sizes& sizes) {
  Visibility<double> visibility{.B = sizes.B, .H = sizes.H, .L = sizes.L, .S = sizes.S};
  visibility.offset.assign(sizes.B, 0);
  visibility.window_offset.assign(sizes.B, 0);
  visibility.slope_offset.assign(sizes.B, 0);
  visibility.hidden_by_mask = Tensor<std::uint8_t, 4>::make(masked.sizes());
  std::ranges::transform(masked.elements(), visibility.hidden_by_mask.elements().begin(),
                         [](double x) { return std::uint8_t{x == -HUGE_VAL}; });
  return visibility;
}

bool has_rules(const Request& request) {
  return has_masked_stage(request.inputs, request.settings);
}

/// Every tensor that was given, in the order of the stages.
std::vector<std::pair<std::string, const NamedArray*>> given_tensors(const Request& request) {
  std::vector<std::pair<std::string, const NamedArray*>> list;
  const auto add = [&](const std::string& stage, const NamedArray& named) {
    list.emplace_back(stage, &named);
  };
  if (request.inputs.q) add("q", *request.inputs.q);
  if (request.inputs.k) add("k", *request.inputs.k);
  if (request.inputs.v) add("v", *request.inputs.v);
  for (const char* option : {"scores", "scaled", "capped", "masked", "attn", "heads-out", "out"}) {
    const auto found = request.further_tensors.find(option);
    if (found != request.further_tensors.end())
      add(std::string(option) == "heads-out" ? "heads" : option, found->second);
  }
  return list;
}

bool is_input(const std::string& stage) { return stage == "q" || stage == "k" || stage == "v"; }

/// The coarsest type among the stages, or among q, k and v; exact types are as good as float64.
DType coarsest_type(const std::vector<std::pair<std::string, const NamedArray*>>& tensors) {
  const bool any_stage =
      std::ranges::any_of(tensors, [](const auto& one) { return !is_input(one.first); });
  DType coarsest = DType::float64;
  for (const auto& [stage, named] : tensors) {
    if (any_stage && is_input(stage)) continue;
    if (epsilon(named->array.dtype) > epsilon(coarsest)) coarsest = named->array.dtype;
  }
  return coarsest;
}

StageRow row_of(const std::string& stage, const NamedArray& named, const Sizes& sizes,
                Layout layout) {
  const Array& array = named.array;
  StageRow row{.id = stage,
               .is = named.where,
               .shape = array.shape,
               .dims = foreign_dims(stage, array.shape.size(), sizes, layout),
               .dtype = array.dtype,
               .stats = stats_of(array)};
  row.bytes = static_cast<double>(element_count(array.shape) * size_of(array.dtype));
  row.values = array;
  return row;
}

void hold(Evidence<double>& evidence, const std::string& stage, const Tensor<double, 4>& value) {
  const std::pair<const char*, Tensor<double, 4>*> roles[] = {
      {"q", &evidence.q},           {"k", &evidence.k},           {"v", &evidence.v},
      {"scores", &evidence.scores}, {"scaled", &evidence.scaled}, {"capped", &evidence.capped},
      {"masked", &evidence.masked}, {"attn", &evidence.attn},     {"heads", &evidence.heads}};
  for (const auto& [role, target] : roles) {
    if (stage == role) *target = value;
  }
  evidence.stages.emplace_back(stage, value);
}

void read_rules(const Request& request, Foreign& foreign) {
  Evidence<double>& evidence = foreign.evidence;
  if (has_rules(request)) {
    Complaints complaints;
    require_mask_shapes(request.inputs, request.settings, evidence.sizes, complaints);
    complaints.throw_if_any();
    foreign.visibility = std::make_shared<const Visibility<double>>(
        read_visibility<double>(request.inputs, request.settings, evidence.sizes));
  } else if (!evidence.masked.empty()) {
    foreign.visibility =
        std::make_shared<const Visibility<double>>(from_masked(evidence.masked, evidence.sizes));
  }
  evidence.visibility = foreign.visibility.get();
}

void read_sinks(const Request& request, Evidence<double>& evidence) {
  if (!request.inputs.sinks) return;
  const NamedArray& sinks = *request.inputs.sinks;
  const Shape heads = {evidence.sizes.H};
  if (sinks.array.shape != heads) {
    throw Error(Complaint{.what = "sinks do not fit the heads",
                          .where = sinks.where + ", (H)",
                          .expected = shape_text(heads) + ", one logit a query head",
                          .got = shape_text(sinks.array.shape)});
  }
  evidence.sinks = as_rank<double, 1>(sinks.array);
  evidence.settings.empty_rows = EmptyRows::zero;  // the sink takes all the weight
}

}  // namespace

void add_stage_options(CLI::App& app, CommonOptions& options) {
  add_tensor_option(app, options, "attn", "A", "The weights: (L,S), (B,L,S) or (B,H,L,S)");
  add_tensor_option(app, options, "scores", "S", "q*k^T before the scale");
  add_tensor_option(app, options, "scaled", "S", "scores times the scale");
  add_tensor_option(app, options, "capped", "S", "scaled after the softcap");
  add_tensor_option(app, options, "masked", "M", "What went into the softmax");
  add_tensor_option(app, options, "heads-out", "H", "attn*v by head: (B,H,L,Dv)");
  add_tensor_option(app, options, "out", "O", "The output: (L,E), (B,L,E) or (B,H,L,Dv)");
}

Foreign read_foreign(const Request& request, std::optional<std::size_t> d_k) {
  const Layout layout = request.settings.layout;
  Foreign foreign;
  Evidence<double>& evidence = foreign.evidence;
  const auto tensors = given_tensors(request);
  evidence.sizes = foreign_sizes(request, tensors, d_k);
  evidence.settings = request.settings;
  evidence.inputs = &request.inputs;
  foreign.coarsest = coarsest_type(tensors);
  evidence.eps = epsilon(foreign.coarsest);
  for (const auto& [stage, named] : tensors) {
    const Sizes& sizes = evidence.sizes;
    const std::size_t heads = stage == "q" ? sizes.H : stage == "k" || stage == "v" ? sizes.G : 1;
    const bool has_layout = is_input(stage) || stage == "out";
    const Tensor<double, 4> value = by_head(*named, heads, has_layout ? layout : Layout::bhld);
    hold(evidence, stage, value);
    if (stage == "out" && sizes.rank_four && evidence.heads.empty()) evidence.heads = value;
    foreign.rows.push_back(row_of(stage, *named, sizes, layout));
  }
  read_rules(request, foreign);
  read_sinks(request, evidence);
  return foreign;
}

}  // namespace qkv::cli

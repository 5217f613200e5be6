// What well-known checkpoints call the weights of attention.
#include "cli/weight_names.hpp"

#include <algorithm>
#include <set>
#include <string_view>

#include "qkv/base/error.hpp"
#include "qkv/base/text.hpp"

namespace qkv::cli {

namespace {

struct KnownName {
  std::string_view role;
  std::string_view ending;
  bool out_in = false;
  std::optional<QkvOrder> order = {};
};

// Names as PyTorch, BERT, GPT-2, Llama, Phi-3, timm, GPT-NeoX, BLOOM, Falcon, InternLM2 and GGUF
// exports have them. Weights called `weight` are nn.Linear's, stored (out,in), but for GPT-2's
// c_attn and c_proj, which are Conv1D, (in,out).
constexpr KnownName known[] = {
    {"wq", "wq"},
    {"wk", "wk"},
    {"wv", "wv"},
    {"wo", "wo"},
    {"bq", "bq"},
    {"bk", "bk"},
    {"bv", "bv"},
    {"bo", "bo"},
    {"wqkv", "wqkv"},
    {"bqkv", "bqkv"},
    {"wq", "W_Q"},
    {"wk", "W_K"},
    {"wv", "W_V"},
    {"wo", "W_O"},
    {"wq", "W_query"},
    {"wk", "W_key"},
    {"wv", "W_value"},
    {"wq", "q_proj.weight", true},
    {"wk", "k_proj.weight", true},
    {"wv", "v_proj.weight", true},
    {"wo", "o_proj.weight", true},
    {"bq", "q_proj.bias"},
    {"bk", "k_proj.bias"},
    {"bv", "v_proj.bias"},
    {"bo", "o_proj.bias"},
    {"wq", "query.weight", true},
    {"wk", "key.weight", true},
    {"wv", "value.weight", true},
    {"bq", "query.bias"},
    {"bk", "key.bias"},
    {"bv", "value.bias"},
    {"wq", "W_query.weight", true},
    {"wk", "W_key.weight", true},
    {"wv", "W_value.weight", true},
    {"wq", "wq.weight", true},
    {"wk", "wk.weight", true},
    {"wv", "wv.weight", true},
    {"wo", "wo.weight", true},
    {"bq", "wq.bias"},
    {"bk", "wk.bias"},
    {"bv", "wv.bias"},
    {"bo", "wo.bias"},
    {"wq", "attn_q.weight", true},
    {"wk", "attn_k.weight", true},
    {"wv", "attn_v.weight", true},
    {"wo", "attn_output.weight", true},
    {"wqkv", "in_proj_weight", true, QkvOrder::blocks},
    {"bqkv", "in_proj_bias"},
    {"wo", "out_proj.weight", true},
    {"bo", "out_proj.bias"},
    {"wqkv", "attn.qkv.weight", true, QkvOrder::blocks},
    {"bqkv", "attn.qkv.bias"},
    {"wo", "attn.proj.weight", true},
    {"bo", "attn.proj.bias"},
    {"wqkv", "qkv_proj.weight", true, QkvOrder::blocks},
    {"bqkv", "qkv_proj.bias"},
    {"wqkv", "c_attn.weight", false, QkvOrder::blocks},
    {"bqkv", "c_attn.bias"},
    {"wo", "attn.c_proj.weight"},
    {"bo", "attn.c_proj.bias"},
    {"wqkv", "query_key_value.weight", true, QkvOrder::per_head},
    {"bqkv", "query_key_value.bias"},
    {"wo", "attention.dense.weight", true},
    {"bo", "attention.dense.bias"},
    {"wo", "self_attention.dense.weight", true},
    {"bo", "self_attention.dense.bias"},
    {"wqkv", "wqkv.weight", true, QkvOrder::per_group},
    {"bqkv", "wqkv.bias"},
    {"wo", "attention.output.dense.weight", true},
    {"bo", "attention.output.dense.bias"},
    {"wo", "output.dense.weight", true},
    {"bo", "output.dense.bias"},
};

/// True where `name` is `ending`, or ends in it behind a dot.
bool ends_in(std::string_view name, std::string_view ending) {
  if (name == ending) return true;
  return name.size() > ending.size() && name.ends_with(ending) &&
         name[name.size() - ending.size() - 1] == '.';
}

/// The longest known ending, so that attn.c_proj.weight is not taken for a c_proj of the
/// feed-forward.
const KnownName* recognise(std::string_view name) {
  const KnownName* best = nullptr;
  for (const KnownName& candidate : known) {
    // The prefix may have cut the front of "attention.output.dense.weight" off.
    if (ends_in(name, candidate.ending) &&
        (best == nullptr || candidate.ending.size() > best->ending.size()))
      best = &candidate;
  }
  return best;
}

std::string layers_of(const std::vector<std::string>& names) {
  std::set<std::string> prefixes;
  for (const std::string& name : names) {
    const KnownName* role = recognise(name);
    if (role != nullptr && (role->role == "wq" || role->role == "wqkv"))
      prefixes.insert(name.substr(0, name.size() - role->ending.size()));
  }
  std::vector<std::string> shown;
  for (const std::string& prefix : prefixes) {
    if (shown.size() == 4) {
      shown.push_back("(" + std::to_string(prefixes.size() - 4) + " more)");
      break;
    }
    shown.push_back(escaped(prefix));
  }
  return shown.empty() ? "no layer with known names" : listed(shown);
}

}  // namespace

std::vector<WeightName> find_weights(const std::vector<std::string>& names,
                                     const std::string& prefix, const std::string& file) {
  std::vector<WeightName> found;
  std::vector<std::string> twice;
  for (const std::string& name : names) {
    if (!name.starts_with(prefix)) continue;
    std::string rest = name.substr(prefix.size());
    if (rest.ends_with(".npy")) rest.resize(rest.size() - 4);
    const KnownName* role = recognise(rest);
    if (role == nullptr) continue;
    const auto same = std::ranges::find(found, role->role, &WeightName::role);
    if (same != found.end()) {
      twice.push_back(std::string(role->role));
      continue;
    }
    found.push_back({std::string(role->role), name, role->out_in, role->order});
  }
  if (!twice.empty()) {
    throw Error(
        Complaint{.what = "several weights for one role",
                  .where = file,
                  .expected = "one " + twice.front() + ": choose a layer with --weights-prefix",
                  .got = "layers " + layers_of(names)});
  }
  if (found.empty()) {
    throw Error(Complaint{
        .what = "no attention weights found",
        .where = file + (prefix.empty() ? "" : ", --weights-prefix " + escaped(prefix)),
        .expected =
            "names such as wq, q_proj.weight, in_proj_weight or c_attn.weight behind the prefix",
        .got = layers_of(names),
        .hint = "name each tensor: --wq FILE:NAME --wk FILE:NAME --wv FILE:NAME"});
  }
  return found;
}

}  // namespace qkv::cli

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

// Names of an encoder block's norms and feed-forward in PyTorch, BERT, GPT-2, Llama (Hugging Face's
// and its own), BLOOM, GPT-NeoX, OPT, ViT, timm and GGUF. Before they are compared with
// attention's: BERT's output.dense.weight is the feed-forward's where a whole layer is read.
constexpr KnownName known_of_block[] = {
    {"norm1-w", "norm1_w"},
    {"norm1-b", "norm1_b"},
    {"norm2-w", "norm2_w"},
    {"norm2-b", "norm2_b"},
    {"ff-w1", "ff_w1"},
    {"ff-b1", "ff_b1"},
    {"ff-w2", "ff_w2"},
    {"ff-b2", "ff_b2"},
    {"ff-w3", "ff_w3"},
    {"norm1-w", "norm1.weight"},
    {"norm1-b", "norm1.bias"},
    {"norm2-w", "norm2.weight"},
    {"norm2-b", "norm2.bias"},
    {"ff-w1", "linear1.weight", true},
    {"ff-b1", "linear1.bias"},
    {"ff-w2", "linear2.weight", true},
    {"ff-b2", "linear2.bias"},
    {"norm1-w", "attention.output.LayerNorm.weight"},
    {"norm1-b", "attention.output.LayerNorm.bias"},
    {"norm2-w", "output.LayerNorm.weight"},
    {"norm2-b", "output.LayerNorm.bias"},
    {"norm1-w", "layernorm_before.weight"},
    {"norm1-b", "layernorm_before.bias"},
    {"norm2-w", "layernorm_after.weight"},
    {"norm2-b", "layernorm_after.bias"},
    {"ff-w1", "intermediate.dense.weight", true},
    {"ff-b1", "intermediate.dense.bias"},
    {"ff-w2", "output.dense.weight", true},
    {"ff-b2", "output.dense.bias"},
    {"norm1-w", "ln_1.weight"},
    {"norm1-b", "ln_1.bias"},
    {"norm2-w", "ln_2.weight"},
    {"norm2-b", "ln_2.bias"},
    {"ff-w1", "mlp.c_fc.weight"},
    {"ff-b1", "mlp.c_fc.bias"},
    {"ff-w2", "mlp.c_proj.weight"},
    {"ff-b2", "mlp.c_proj.bias"},
    {"norm1-w", "input_layernorm.weight"},
    {"norm1-b", "input_layernorm.bias"},
    {"norm2-w", "post_attention_layernorm.weight"},
    {"norm2-b", "post_attention_layernorm.bias"},
    {"ff-w1", "mlp.dense_h_to_4h.weight", true},
    {"ff-b1", "mlp.dense_h_to_4h.bias"},
    {"ff-w2", "mlp.dense_4h_to_h.weight", true},
    {"ff-b2", "mlp.dense_4h_to_h.bias"},
    {"ff-w1", "mlp.gate_proj.weight", true},
    {"ff-w3", "mlp.up_proj.weight", true},
    {"ff-w2", "mlp.down_proj.weight", true},
    {"norm1-w", "attention_norm.weight"},
    {"norm2-w", "ffn_norm.weight"},
    {"ff-w1", "feed_forward.w1.weight", true},
    {"ff-w2", "feed_forward.w2.weight", true},
    {"ff-w3", "feed_forward.w3.weight", true},
    {"norm1-w", "attn_norm.weight"},
    {"ff-w1", "ffn_gate.weight", true},
    {"ff-w3", "ffn_up.weight", true},
    {"ff-w2", "ffn_down.weight", true},
    {"norm1-w", "self_attn_layer_norm.weight"},
    {"norm1-b", "self_attn_layer_norm.bias"},
    {"norm2-w", "final_layer_norm.weight"},
    {"norm2-b", "final_layer_norm.bias"},
    {"ff-w1", "fc1.weight", true},
    {"ff-b1", "fc1.bias"},
    {"ff-w2", "fc2.weight", true},
    {"ff-b2", "fc2.bias"},
};

/// True where `name` is `ending`, or ends in it behind a dot.
bool ends_in(std::string_view name, std::string_view ending) {
  if (name == ending) return true;
  return name.size() > ending.size() && name.ends_with(ending) &&
         name[name.size() - ending.size() - 1] == '.';
}

/// The longest known ending, so that attn.c_proj.weight is not taken for a c_proj of the
/// feed-forward.
const KnownName* recognise(std::string_view name, WeightScope scope) {
  const KnownName* best = nullptr;
  const auto look = [&](const KnownName& candidate) {
    // The prefix may have cut the front of "attention.output.dense.weight" off.
    if (ends_in(name, candidate.ending) &&
        (best == nullptr || candidate.ending.size() > best->ending.size()))
      best = &candidate;
  };
  // Of two endings of one length the first stays.
  if (scope == WeightScope::block) std::ranges::for_each(known_of_block, look);
  std::ranges::for_each(known, look);
  return best;
}

/// GPT-NeoX adds attention and feed-forward, both of x, to x; so does Falcon, with one norm for the
/// two. A block whose feed-forward follows on the attention would give other numbers, unseen.
void require_one_after_another(const std::vector<WeightName>& found, const std::string& file) {
  const auto name_of = [&](std::string_view role) {
    const auto weight = std::ranges::find(found, role, &WeightName::role);
    return weight == found.end() ? std::string() : weight->name;
  };
  const std::string up = name_of("ff-w1"), fused = name_of("wqkv");
  if (!ends_in(up, "mlp.dense_h_to_4h.weight")) return;
  const bool neox = ends_in(fused, "attention.query_key_value.weight");
  if (!neox && !name_of("norm2-w").empty()) return;
  throw Error(Complaint{
      .what = "a block whose attention and feed-forward run side by side",
      .where = escaped(file + ":" + (neox ? fused : up)),
      .expected = "a feed-forward on what attention gave, x1 = x + attn(norm1(x)), out = x1 + "
                  "ff(norm2(x1))",
      .got = neox ? "the names of GPT-NeoX, which adds attn(norm1(x)) + ff(norm2(x)) to x"
                  : "the names of Falcon without a post_attention_layernorm, which adds "
                    "attn(norm(x)) + ff(norm(x)) to x",
      .hint = neox ? "qkv trace shows its attention; a model with use_parallel_residual false is "
                     "a block: name its tensors, --wqkv FILE:NAME --ff-w1 FILE:NAME and so on"
                   : "qkv trace shows its attention"});
}

std::string layers_of(const std::vector<std::string>& names) {
  std::set<std::string> prefixes;
  for (const std::string& name : names) {
    const KnownName* role = recognise(name, WeightScope::attention);
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
                                     const std::string& prefix, const std::string& file,
                                     WeightScope scope) {
  std::vector<WeightName> found;
  std::vector<std::string> twice;
  for (const std::string& name : names) {
    if (!name.starts_with(prefix)) continue;
    std::string rest = name.substr(prefix.size());
    if (rest.ends_with(".npy")) rest.resize(rest.size() - 4);
    const KnownName* role = recognise(rest, scope);
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
  if (scope == WeightScope::block) require_one_after_another(found, file);
  // Without a gate, what GGUF and others call "up" is the first weight, not a factor.
  const auto has = [&](std::string_view role) {
    return std::ranges::find(found, role, &WeightName::role) != found.end();
  };
  if (has("ff-w3") && !has("ff-w1"))
    std::ranges::find(found, "ff-w3", &WeightName::role)->role = "ff-w1";
  return found;
}

}  // namespace qkv::cli

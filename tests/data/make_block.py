#!/usr/bin/env python3
# make_block.py: writes block/CASE/, a bundle for qkv block, and block/CASE.npz, every stage of it in float64.
#
# The bundles hold float64 weights drawn with fixed seeds. Where torch.nn.TransformerEncoderLayer has the configuration
# (layer norm, relu or gelu, not gated) its output is asserted to be block_out of the stages written here, which plain
# torch code computes one by one. Of a stack the stages are called 0.norm1, 1.norm1 ...
#
# block/torch.safetensors holds the weights of stack_pre under the names that PyTorch gives them, llama.safetensors those of
# pre_rms_gated, bert.safetensors those of post_gelu_padded, gpt2.safetensors, bloom.safetensors and neox.safetensors
# those of pre_gelu; of real models with neox's names attention and feed-forward run side by side, which these do not.
# Run it with NumPy 1.24 and torch 1.13; the same bytes come out each time.
import json
import math
import pathlib
import shutil
import struct

import numpy as np
import torch
from numpy.lib import format as npy

FOLDER = pathlib.Path(__file__).parent / "block"
B, L, E, H, D, F = 2, 5, 12, 3, 4, 20
LENGTHS = [5, 3]

# name: norm, kind, activation, then what differs
CASES = {
    "post_relu": dict(norm="post", activation="relu"),
    "post_gelu_padded": dict(norm="post", activation="gelu", lengths=LENGTHS),
    "pre_relu_causal": dict(norm="pre", activation="relu", causal=True),
    "pre_gelu": dict(norm="pre", activation="gelu", eps=1e-3),
    "post_gelu_tanh": dict(norm="post", activation="gelu-tanh", in_out=True),
    "pre_rms_gated": dict(norm="pre", kind="rms", activation="silu", gated=True, biased=False, causal=True, groups=1,
                          rope=10000.0, eps=1e-6),
    "post_rms": dict(norm="post", kind="rms", activation="silu", in_out=True, biased=False),
    "post_gated_gelu": dict(norm="post", activation="gelu", gated=True),
    "stack_pre": dict(norm="pre", activation="gelu", layers=3, lengths=LENGTHS),
    "stack_post": dict(norm="post", activation="relu", layers=2, causal=True),
}


def weights_of(case, random):
    """Weights stored (out,in), each vector and matrix different from all others."""
    G = case.get("groups", H)
    sizes = {"wq": (H * D, E), "wk": (G * D, E), "wv": (G * D, E), "wo": (E, H * D), "ff_w1": (F, E), "ff_w2": (E, F)}
    if case.get("gated"):
        sizes["ff_w3"] = (F, E)
    weights = {name: random.normal(size=size) / math.sqrt(size[1]) for name, size in sizes.items()}
    weights["norm1_w"], weights["norm2_w"] = random.uniform(0.5, 1.5, E), random.uniform(0.5, 1.5, E)
    if case.get("biased", True):
        biases = {"bq": H * D, "bk": G * D, "bv": G * D, "bo": E, "ff_b1": F, "ff_b2": E, "norm1_b": E, "norm2_b": E}
        weights.update({name: random.normal(size=size) / 4 for name, size in biases.items()})
    return weights


def normalised(x, case, gain, bias):
    eps = case.get("eps", 1e-5)
    if case.get("kind") == "rms":
        y = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)
    else:
        y = torch.nn.functional.layer_norm(x, (E,), eps=eps)
    return y * gain + (0 if bias is None else bias)


def activated(a, name):
    functional = torch.nn.functional
    return {"relu": functional.relu, "gelu": functional.gelu, "silu": functional.silu,
            "gelu-tanh": lambda t: functional.gelu(t, approximate="tanh")}[name](a)


def rotated(x, base):
    """Pairs (i, i + D/2), positions from 0."""
    half = D // 2
    angle = torch.arange(L, dtype=torch.float64)[:, None] * base ** (-torch.arange(half, dtype=torch.float64) / half)
    a, b = x[..., :half], x[..., half:]
    return torch.cat([a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()], -1)


def hidden_of(case):
    hidden = torch.zeros(B, 1, L, L, dtype=torch.bool)
    if case.get("causal"):
        hidden |= torch.ones(L, L, dtype=torch.bool).triu(1)
    if "lengths" in case:
        hidden |= (torch.arange(L)[None] >= torch.tensor(case["lengths"])[:, None])[:, None, None]
    return hidden


def stages_of(x, case, w, change=lambda name, value: value):
    """Every stage of one block, in the order in which it is computed; `change` makes of each what the next works on."""
    t = {name: torch.tensor(value) for name, value in w.items()}
    linear = torch.nn.functional.linear
    stages = {}

    def keep(name, value):
        stages[name] = change(name, value)
        return stages[name]

    x = keep("x", x)

    def split(y, heads):
        return y.view(B, L, heads, D).transpose(1, 2)

    def attention(y):
        G = case.get("groups", H)
        q = keep("q", split(linear(y, t["wq"], t.get("bq")), H))
        k = keep("k", split(linear(y, t["wk"], t.get("bk")), G))
        v = keep("v", split(linear(y, t["wv"], t.get("bv")), G))
        if "rope" in case:
            q, k = keep("q_rope", rotated(q, case["rope"])), keep("k_rope", rotated(k, case["rope"]))
        k, v = (z.repeat_interleave(H // G, 1) for z in (k, v))
        scaled = keep("scaled", keep("scores", q @ k.transpose(2, 3)) / math.sqrt(D))
        hidden = hidden_of(case)
        if hidden.any():
            scaled = keep("masked", scaled.masked_fill(hidden, -math.inf))
        attn = keep("attn", scaled.softmax(-1))
        concat = keep("concat", keep("heads", attn @ v).transpose(1, 2).reshape(B, L, H * D))
        return keep("out", linear(concat, t["wo"], t.get("bo")))

    def feed_forward(y):
        inner = keep("ff_act", activated(keep("ff1", linear(y, t["ff_w1"], t.get("ff_b1"))), case["activation"]))
        if case.get("gated"):
            inner = keep("ff_gated", inner * keep("ff3", linear(y, t["ff_w3"])))
        return keep("ff2", linear(inner, t["ff_w2"], t.get("ff_b2")))

    def norm(name, y):
        return keep(name, normalised(y, case, t[name + "_w"], t.get(name + "_b")))

    if case["norm"] == "pre":
        res1 = keep("res1", x + attention(norm("norm1", x)))
        last = keep("res2", res1 + feed_forward(norm("norm2", res1)))
    else:
        norm1 = norm("norm1", keep("res1", x + attention(x)))
        last = norm("norm2", keep("res2", norm1 + feed_forward(norm1)))
    keep("block_out", last)
    return stages


def torch_names(w):
    """The state of a torch.nn.TransformerEncoderLayer."""
    return {"self_attn.in_proj_weight": np.concatenate([w["wq"], w["wk"], w["wv"]]),
            "self_attn.in_proj_bias": np.concatenate([w["bq"], w["bk"], w["bv"]]),
            "self_attn.out_proj.weight": w["wo"], "self_attn.out_proj.bias": w["bo"],
            "linear1.weight": w["ff_w1"], "linear1.bias": w["ff_b1"],
            "linear2.weight": w["ff_w2"], "linear2.bias": w["ff_b2"],
            "norm1.weight": w["norm1_w"], "norm1.bias": w["norm1_b"],
            "norm2.weight": w["norm2_w"], "norm2.bias": w["norm2_b"]}


def llama_names(w):
    return {"self_attn.q_proj.weight": w["wq"], "self_attn.k_proj.weight": w["wk"], "self_attn.v_proj.weight": w["wv"],
            "self_attn.o_proj.weight": w["wo"], "input_layernorm.weight": w["norm1_w"],
            "post_attention_layernorm.weight": w["norm2_w"], "mlp.gate_proj.weight": w["ff_w1"],
            "mlp.up_proj.weight": w["ff_w3"], "mlp.down_proj.weight": w["ff_w2"]}


def bert_names(w):
    names = {}
    for ours, theirs in (("q", "attention.self.query"), ("k", "attention.self.key"), ("v", "attention.self.value"),
                         ("o", "attention.output.dense")):
        names[theirs + ".weight"], names[theirs + ".bias"] = w["w" + ours], w["b" + ours]
    for ours, theirs in (("norm1_", "attention.output.LayerNorm"), ("norm2_", "output.LayerNorm")):
        names[theirs + ".weight"], names[theirs + ".bias"] = w[ours + "w"], w[ours + "b"]
    for ours, theirs in (("1", "intermediate.dense"), ("2", "output.dense")):
        names[theirs + ".weight"], names[theirs + ".bias"] = w["ff_w" + ours], w["ff_b" + ours]
    return names


def gpt2_names(w):
    """Conv1D: stored (in,out)."""
    return {"attn.c_attn.weight": np.concatenate([w["wq"], w["wk"], w["wv"]]).T,
            "attn.c_attn.bias": np.concatenate([w["bq"], w["bk"], w["bv"]]),
            "attn.c_proj.weight": w["wo"].T, "attn.c_proj.bias": w["bo"],
            "ln_1.weight": w["norm1_w"], "ln_1.bias": w["norm1_b"], "ln_2.weight": w["norm2_w"], "ln_2.bias": w["norm2_b"],
            "mlp.c_fc.weight": w["ff_w1"].T, "mlp.c_fc.bias": w["ff_b1"],
            "mlp.c_proj.weight": w["ff_w2"].T, "mlp.c_proj.bias": w["ff_b2"]}


def bloom_names(w):
    """query_key_value by head: rows (H, q k v, D)."""
    fused = {kind: np.stack([w[kind + role].reshape(H, D, *w[kind + role].shape[1:]) for role in "qkv"], 1) for kind in "wb"}
    return {"self_attention.query_key_value.weight": fused["w"].reshape(3 * H * D, E),
            "self_attention.query_key_value.bias": fused["b"].reshape(3 * H * D),
            "self_attention.dense.weight": w["wo"], "self_attention.dense.bias": w["bo"],
            "input_layernorm.weight": w["norm1_w"], "input_layernorm.bias": w["norm1_b"],
            "post_attention_layernorm.weight": w["norm2_w"], "post_attention_layernorm.bias": w["norm2_b"],
            "mlp.dense_h_to_4h.weight": w["ff_w1"], "mlp.dense_h_to_4h.bias": w["ff_b1"],
            "mlp.dense_4h_to_h.weight": w["ff_w2"], "mlp.dense_4h_to_h.bias": w["ff_b2"]}


def neox_names(w):
    return {name.replace("self_attention", "attention"): value for name, value in bloom_names(w).items()}


def agrees_with_torch(case, weights, x, out):
    """torch's own layer gives the same; False where it has no such configuration."""
    if case.get("kind") == "rms" or case.get("gated") or case["activation"] not in ("relu", "gelu"):
        return False
    y = x
    for w in weights:
        layer = torch.nn.TransformerEncoderLayer(E, H, F, 0.0, case["activation"], case.get("eps", 1e-5), batch_first=True,
                                                 norm_first=case["norm"] == "pre", dtype=torch.float64)
        layer.load_state_dict({name: torch.tensor(value) for name, value in torch_names(w).items()})
        layer.train()  # not the fast path of inference, which rounds elsewhere
        mask = torch.ones(L, L, dtype=torch.bool).triu(1) if case.get("causal") else None
        padding = torch.arange(L)[None] >= torch.tensor(case["lengths"])[:, None] if "lengths" in case else None
        with torch.no_grad():
            y = layer(y, src_mask=mask, src_key_padding_mask=padding)
    assert torch.allclose(y, out, rtol=1e-12, atol=1e-12), (y - out).abs().max()
    return True


def write_npz(path, arrays):
    """np.savez without the time of day."""
    import zipfile
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            with archive.open(zipfile.ZipInfo(name + ".npy", (1980, 1, 1, 0, 0, 0)), "w") as member:
                npy.write_array(member, np.ascontiguousarray(array), version=(1, 0))


def write_safetensors(path, arrays):
    header, data = {}, b""
    for name, array in arrays.items():
        bytes_ = np.ascontiguousarray(array, "<f8").tobytes()
        header[name] = {"dtype": "F64", "shape": list(array.shape), "data_offsets": [len(data), len(data) + len(bytes_)]}
        data += bytes_
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def write_weights(folder, w, in_out):
    folder.mkdir(parents=True)
    for name, value in w.items():
        np.save(folder / f"{name}.npy", np.ascontiguousarray(value.T if in_out else value))


def main():
    shutil.rmtree(FOLDER, ignore_errors=True)
    drawn, by_torch = {}, 0
    for seed, (name, case) in enumerate(CASES.items()):
        random = np.random.Generator(np.random.PCG64(1000 + seed))
        x = random.normal(size=(B, L, E)) + 0.3
        weights = [weights_of(case, random) for _ in range(case.get("layers", 1))]
        drawn[name] = weights
        bundle = FOLDER / name
        if len(weights) == 1:
            write_weights(bundle, weights[0], case.get("in_out", False))
        else:
            for n, w in enumerate(weights):
                write_weights(bundle / "layers" / str(n), w, case.get("in_out", False))
        np.save(bundle / "x.npy", x)
        config = {"heads": H, "norm": case["norm"], "activation": case["activation"],
                  "weight-order": "in-out" if case.get("in_out") else "out-in"}
        for ours, theirs in (("kind", "norm-kind"), ("eps", "eps"), ("causal", "causal"), ("lengths", "lengths"),
                             ("groups", "kv-heads"), ("rope", "rope")):
            if ours in case:
                config[theirs] = case[ours]
        (bundle / "config.json").write_text(json.dumps(config, indent=2) + "\n")
        golden, y = {}, torch.tensor(x)
        for n, w in enumerate(weights):
            stages = stages_of(y, case, w)
            y = stages["block_out"]
            prefix = f"{n}." if len(weights) > 1 else ""
            golden.update({prefix + stage: value.numpy() for stage, value in stages.items()})
        by_torch += agrees_with_torch(case, weights, torch.tensor(x), y)
        write_npz(FOLDER / f"{name}.npz", golden)

    def layered(prefix, names, weights):
        return {f"{prefix}{n}.{name}": value for n, w in enumerate(weights) for name, value in names(w).items()}

    write_safetensors(FOLDER / "torch.safetensors", layered("encoder.layers.", torch_names, drawn["stack_pre"]))
    write_safetensors(FOLDER / "llama.safetensors", layered("model.layers.", llama_names, drawn["pre_rms_gated"]))
    write_safetensors(FOLDER / "bert.safetensors", layered("bert.encoder.layer.", bert_names, drawn["post_gelu_padded"]))
    write_safetensors(FOLDER / "gpt2.safetensors", layered("h.", gpt2_names, drawn["pre_gelu"]))
    write_safetensors(FOLDER / "bloom.safetensors", layered("h.", bloom_names, drawn["pre_gelu"]))
    write_safetensors(FOLDER / "neox.safetensors", layered("gpt_neox.layers.", neox_names, drawn["pre_gelu"]))
    print(f"{len(CASES)} cases, {by_torch} of them held against torch.nn.TransformerEncoderLayer")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# make_model.py: writes model/letters and model/words, two small language models with random weights, and what PyTorch in
# float64 makes of a prompt: golden/logits.npy, and golden/greedy.json with the most probable tokens after it.
import json
import math
import pathlib
import shutil

import numpy as np
import torch
import torch.nn.functional as F

FOLDER = pathlib.Path(__file__).parent / "model"
torch.set_default_dtype(torch.float64)


def drawn(rng, *shape, std=1.0, mean=0.0):
    return torch.from_numpy((mean + std * rng.standard_normal(shape)).astype(np.float32)).double()


def layer(rng, config):
    E, H, G, D, F_ = (config[name] for name in ("E", "H", "G", "D", "F"))
    weights = {"wq": drawn(rng, E, H * D, std=0.8), "wk": drawn(rng, E, G * D, std=0.8), "wv": drawn(rng, E, G * D, std=0.6),
               "wo": drawn(rng, H * D, E, std=0.6), "ff_w1": drawn(rng, E, F_, std=0.6), "ff_w2": drawn(rng, F_, E, std=0.6),
               "norm1_w": drawn(rng, E, std=0.2, mean=1), "norm2_w": drawn(rng, E, std=0.2, mean=1)}
    if config["biases"]:
        for name, width in (("bq", H * D), ("bk", G * D), ("bv", G * D), ("bo", E), ("ff_b1", F_), ("ff_b2", E),
                            ("norm1_b", E), ("norm2_b", E)):
            weights[name] = drawn(rng, width, std=0.2)
    return weights


def norm(x, gain, bias, config):
    if config["norm_kind"] == "layer":
        return F.layer_norm(x, x.shape[-1:], gain, bias, 1e-5)
    return x / torch.sqrt((x * x).mean(-1, keepdim=True) + 1e-5) * gain


def rotated(x, base):
    """Pairs (i, i+D/2) of x (heads, L, D)."""
    L, D = x.shape[1:]
    angle = torch.arange(L)[:, None] * base ** (-torch.arange(0, D, 2) / D)[None, :]
    a, b = x[..., : D // 2], x[..., D // 2:]
    return torch.cat([a * angle.cos() - b * angle.sin(), b * angle.cos() + a * angle.sin()], -1)


def attention(x, w, config):
    L, H, G, D = len(x), config["H"], config["G"], config["D"]
    heads = lambda y, n: y.reshape(L, n, D).transpose(0, 1)
    q, k, v = (heads(x @ w["w" + c] + w.get("b" + c, 0), n) for c, n in (("q", H), ("k", G), ("v", G)))
    if config["rope"]:
        q, k = rotated(q, config["rope"]), rotated(k, config["rope"])
    k, v = (y.repeat_interleave(H // G, 0) for y in (k, v))
    scores = q @ k.transpose(1, 2) / math.sqrt(D)
    scores = scores.masked_fill(torch.ones(L, L).triu(1).bool(), -math.inf)
    return (scores.softmax(-1) @ v).transpose(0, 1).reshape(L, H * D) @ w["wo"] + w.get("bo", 0)


def feed_forward(x, w, config):
    return config["activation"](x @ w["ff_w1"] + w.get("ff_b1", 0)) @ w["ff_w2"] + w.get("ff_b2", 0)


def logits(model, ids, config):
    x = model["embedding"][ids] + model["position"][: len(ids)]
    for w in model["layers"]:
        norm1 = lambda y: norm(y, w["norm1_w"], w.get("norm1_b"), config)
        norm2 = lambda y: norm(y, w["norm2_w"], w.get("norm2_b"), config)
        if config["norm"] == "pre":
            x = x + attention(norm1(x), w, config)
            x = x + feed_forward(norm2(x), w, config)
        else:
            x = norm1(x + attention(x, w, config))
            x = norm2(x + feed_forward(x, w, config))
    if "final_norm_w" in model:
        x = norm(x, model["final_norm_w"], model.get("final_norm_b"), config)
    return x @ model.get("lm_head_w", model["embedding"].T) + model.get("lm_head_b", 0)


def sinusoidal(L, E):
    angle = np.arange(L)[:, None] / 10000.0 ** (np.arange(0, E, 2) / E)[None, :]
    return torch.from_numpy(np.stack([np.sin(angle), np.cos(angle)], -1).reshape(L, E))


def write(name, model, config, vocabulary, prompt, steps):
    folder = FOLDER / name
    shutil.rmtree(folder, ignore_errors=True)
    for n, weights in enumerate(model["layers"]):
        (folder / "layers" / str(n)).mkdir(parents=True)
        for key, value in weights.items():
            np.save(folder / "layers" / str(n) / f"{key}.npy", value.numpy().astype(np.float32))
    for key, value in model.items():
        if key != "layers" and (key != "position" or config["position"] == "learned"):
            np.save(folder / f"{key}.npy", np.ascontiguousarray(value.numpy().astype(np.float32)))
    (folder / "vocab.txt").write_text("".join(token + "\n" for token in vocabulary))
    (folder / "config.json").write_text(json.dumps(config["file"]) + "\n")

    ids, p, gaps = list(prompt), [], []
    for _ in range(steps):
        last = logits(model, ids, config)[-1]
        best = last.topk(2).values
        gaps.append(float(best[0] - best[1]))
        p.append(float(last.softmax(-1).max()))
        ids.append(int(last.argmax()))
    assert min(gaps) > 0.02, (name, min(gaps))  # so that float32 takes the same tokens
    (folder / "golden").mkdir()
    np.save(folder / "golden" / "logits.npy", logits(model, ids, config).numpy())
    (folder / "golden" / "greedy.json").write_text(json.dumps({"prompt": list(prompt), "ids": ids, "p": p}) + "\n")
    print(name, ids, "smallest gap", round(min(gaps), 3))


# Pre-norm with biases everywhere, learned positions and a head of its own, as GPT-2 has them but for the head.
rng = np.random.default_rng(32)
letters = {"E": 8, "H": 2, "G": 2, "D": 4, "F": 12, "biases": True, "norm": "pre", "norm_kind": "layer", "rope": None,
           "activation": lambda x: F.gelu(x, approximate="tanh"), "position": "learned",
           "file": {"heads": 2, "norm": "pre", "activation": "gelu-tanh", "per-char": True, "weight-order": "in-out"}}
model = {"embedding": drawn(rng, 7, 8), "position": drawn(rng, 20, 8, std=0.5),
         "layers": [layer(rng, letters) for _ in range(2)], "final_norm_w": drawn(rng, 8, std=0.2, mean=1),
         "final_norm_b": drawn(rng, 8, std=0.2), "lm_head_w": drawn(rng, 8, 7), "lm_head_b": drawn(rng, 7, std=0.5)}
write("letters", model, letters, list("abcdefg"), [2, 0, 1, 5], 12)

# Post-norm with an RMS norm, rotary and sinusoidal positions, grouped heads; the head is the embedding.
rng = np.random.default_rng(46)
words = {"E": 12, "H": 4, "G": 2, "D": 6, "F": 10, "biases": False, "norm": "post", "norm_kind": "rms", "rope": 100.0,
         "activation": F.silu, "position": "sinusoidal",
         "file": {"heads": 4, "kv_heads": 2, "norm-kind": "rms", "rope": 100, "activation": "silu", "bos": "<s>",
                  "weight-order": "in-out", "pos-encoding": "sinusoidal", "keep-punctuation": True}}
model = {"embedding": drawn(rng, 9, 12), "position": sinusoidal(20, 12), "layers": [layer(rng, words) for _ in range(3)]}
write("words", model, words, ["<s>", "life", "is", "short", "eat", "dessert", "first", "é", "."], [0, 1, 2], 10)

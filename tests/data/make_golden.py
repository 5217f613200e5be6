#!/usr/bin/env python3
# make_golden.py: writes golden/grid.* and golden/documents.*, attention as PyTorch in float64 computes it.
#
# A .json lists the cases: settings, recipes of the inputs (see golden/draw.py) and, per stage,
# [name, shape in the pipeline, shape shown, where its numbers start in the .npy, [-Inf, NaN, fills, zeros]].
# The .npy holds per stage: sum, sum of sizes, sum weighted by hashed values, greatest and summed error bound
# (golden/reference.py), then the values of all elements or, of more than `sampled`, at hashed positions.
# The sums leave out what is not finite or a fill (size 1e8 and more).
import collections
import json
import math
import pathlib
import random
import sys

import numpy as np
import torch

FOLDER = pathlib.Path(__file__).parent / "golden"
sys.path.insert(0, str(FOLDER))
sys.dont_write_bytecode = True
from draw import Draw, hashed, hashed_values, made  # noqa: E402
from loops import attention_by_loops  # noqa: E402
from reference import attention, shown_shape, visibility  # noqa: E402

CASES, EXTRAS, SAMPLED = 400, 120, 24
MODES = ["x", "context", "fused", "q3", "q4", "x", "context", "mha", "q2", "q4", "q3"]


class Golden:
    def __init__(self, sampled):
        self.sampled, self.cases, self.numbers = sampled, [], []

    def record(self, stage, num, tag, shown):
        flat, error = num.value.reshape(-1).numpy(), num.error.reshape(-1).numpy()
        assert not np.isposinf(flat).any() and np.isfinite(error).all(), stage
        plain = np.isfinite(flat) & (abs(flat) < 1e8)
        summed, n = np.where(plain, flat, 0.0), np.arange(flat.size)
        sums = [math.fsum(summed), math.fsum(abs(summed)), math.fsum(summed * hashed_values(tag, n))]
        at = n
        if flat.size > self.sampled:
            at = hashed(tag + 1, np.arange(self.sampled)).astype(np.int64) % flat.size
        counted = (np.isneginf(flat), np.isnan(flat), np.isfinite(flat) & ~plain, flat == 0)
        row = [stage, list(num.value.shape), shown, len(self.numbers), [int(c.sum()) for c in counted]]
        self.numbers += sums + [error.max(), math.fsum(error[plain])] + list(flat[at])
        return row

    def add(self, name, settings, inputs, given):
        """Computes and records a case; returns its stages."""
        stages, present = attention(given, settings)
        case = {"name": name, "settings": settings, "inputs": inputs}
        for n, (group, tensors) in enumerate((("stages", stages), ("present", present))):
            case[group] = [self.record(stage, num, 64 * len(self.cases) + 32 * n + 2 * at,
                                       shown_shape(stage, num.value.shape, given, settings))
                           for at, (stage, num) in enumerate(tensors.items())]
        self.cases.append(case)
        return stages, present

    def write(self, name):
        lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in self.cases)
        (FOLDER / f"{name}.json").write_text(f'{{"sampled":{self.sampled},"cases":[\n{lines}\n]}}\n')
        np.save(FOLDER / f"{name}.npy", np.array(self.numbers))


def agree(a, b, bound=1e-12):
    assert torch.allclose(a, b, rtol=bound, atol=bound, equal_nan=True), (a - b).abs().max()


def against_sdpa(draw, given, stages, present):
    """torch's own softmax(q k^T / sqrt(D) + mask) v; the causal rule by torch too where it is alone."""
    s = draw.settings
    if "softcap" in s or s.get("fill") == -4.0:
        return 0
    q = stages.get("q_rope", stages["q"]).value
    k, v = (present[n].value.repeat_interleave(draw.H // draw.G, 1) for n in ("present_k", "present_v"))
    scale = 1 / s["temperature"] if "temperature" in s else s.get("scale", draw.D ** -0.5)
    hidden, added = visibility(given, s, draw.B, draw.H, draw.L, draw.S, draw.P)
    bias = torch.zeros(hidden.shape, dtype=torch.float64) if added is None else added
    bias = bias.masked_fill(hidden, -math.inf)
    options = {"attn_mask": bias}
    others = {"mask", "key_padding", "lengths"} & set(given) or "window" in s
    if s.get("causal") and draw.L == draw.S and not draw.P and not others:
        options = {"is_causal": True}
    sdpa = getattr(torch.nn.functional, "scaled_dot_product_attention", None)
    private = getattr(torch.nn.functional, "_scaled_dot_product_attention", None)  # PyTorch 1.13
    heads = (sdpa or private)(q * scale * draw.D ** 0.5, k, v, **options)
    heads = heads if sdpa else heads[0]
    seen = ~bias.isneginf().all(-1)  # a query that sees nothing is NaN in one version, zeros in another
    agree(heads[seen], (stages["heads"] if "heads" in stages else stages["out"]).value[seen])
    return 1


def against_mha(draw, given, stages):
    """torch's multi_head_attention_forward from the raw inputs, its masks made from the raw masks."""
    s, (B, H, L, S) = draw.settings, (draw.B, draw.H, draw.L, draw.S)
    if draw.mode != "mha" or "window" in s or s.get("causal_align") or s.get("fill") == -4.0:
        return 0
    x = given["x"].reshape(B, L, -1).transpose(0, 1)
    context = given.get("context", given["x"]).reshape(B, S, -1).transpose(0, 1)
    mask = torch.zeros(B, H, L, S, dtype=torch.float64)
    if "mask" in given:
        raw = given["mask"]
        if raw.is_floating_point():
            mask = mask + raw
        else:
            mask = mask.masked_fill(raw.bool() if s.get("mask_true") else ~raw.bool(), -math.inf)
    if s.get("causal"):
        mask = mask + torch.full((L, S), -math.inf, dtype=torch.float64).triu(1)
    padding = torch.zeros(B, S, dtype=torch.bool)
    if "key_padding" in given:
        padding = given["key_padding"].reshape(B, S).bool() == bool(s.get("padding_true"))
    if "lengths" in given:
        padding = padding | (torch.arange(S) >= given["lengths"][:, None])
    width = draw.H * draw.D
    zero = torch.zeros(width, dtype=torch.float64)
    biases = torch.cat([given.get(n, zero) for n in ("bq", "bk", "bv")])
    out, attn = torch.nn.functional.multi_head_attention_forward(
        x, context, context, width, H, None, biases, None, None, False, 0.0, given["wo"].T, given.get("bo"),
        training=False, key_padding_mask=padding, need_weights=True, attn_mask=mask.reshape(B * H, L, S),
        use_separate_proj_weight=True, q_proj_weight=given["wq"].T, k_proj_weight=given["wk"].T,
        v_proj_weight=given["wv"].T, average_attn_weights=False)
    # A row that sees nothing is NaN there; only the others have one agreed value.
    seen = ~attn.isnan().any(-1)
    agree(attn[seen], stages["attn"].value[seen])
    whole = seen.all(1)
    agree(out.transpose(0, 1)[whole], stages["out"].value[:, 0][whole])
    return 1


def against_loops(given, settings, stages):
    """The second implementation, where it does not take long; within the bounds that the tests will use."""
    if stages["scores"].value.numel() > 3000:
        return 0
    looped = attention_by_loops({n: t.numpy() for n, t in given.items()}, settings)
    assert list(looped) == list(stages)
    for stage, num in stages.items():
        want, got = torch.from_numpy(looped[stage]), num.value
        bound = num.error * torch.finfo(torch.float64).eps
        near = (got == want) | (got.isnan() & want.isnan()) | ((got - want).abs() <= bound)
        assert got.shape == want.shape and near.all(), stage
    return 1


def make_grid():
    rng, golden, seen = random.Random(20240229), Golden(SAMPLED), collections.Counter()
    for number in range(CASES):
        draw = Draw(number, rng, MODES[number % len(MODES)])
        given, settings = draw.given(), draw.settings
        stages, present = golden.add(f"{number:03d} " + " ".join(draw.words), settings, draw.inputs, given)
        spread = stages["scaled"].value
        assert (spread.amax() - spread.amin()) < 600, "exp underflows: zeros could not be told from hidden"
        seen.update(settings.keys() | draw.inputs.keys() | stages.keys() | {draw.mode})
        seen.update(f"{name} {value}" for name, value in settings.items() if isinstance(value, (str, bool)))
        seen.update(f"{axis}={getattr(draw, axis)}" for axis in ("L", "S", "D", "Dv"))
        if "mask" in draw.inputs:
            seen.update([f"mask rank {len(draw.inputs['mask']['shape'])} {draw.inputs['mask']['dtype'][:5]}"])
        hidden, added = visibility(given, settings, draw.B, draw.H, draw.L, draw.S, draw.P)
        if (hidden if added is None else hidden | added.isneginf()).all(-1).any():
            seen.update([f"empty row {settings.get('empty_rows', 'zero')}"])
        seen["checked by loops"] += against_loops(given, settings, stages)
        seen["checked by sdpa"] += against_sdpa(draw, given, stages, present)
        seen["checked by mha"] += against_mha(draw, given, stages)
    rare = {n: count for n, count in seen.items() if count < 5 and "=" not in n and "rank" not in n}
    assert not rare, rare
    edges = [f"{axis}={size}" for axis in ("L", "S", "D", "Dv") for size in (1, 15, 64, 65)]
    assert all(seen[edge] >= 5 for edge in edges + ["L=129", "S=129"]), seen
    golden.write("grid")
    print(", ".join(f"{name}: {count}" for name, count in sorted(seen.items())))


def make_extras():
    """Sinks, ALiBi and normalised queries and keys, alone and together, over what the grid draws."""
    rng, golden, seen = random.Random(20240301), Golden(SAMPLED), collections.Counter()
    for number in range(EXTRAS):
        draw = Draw(number, rng, MODES[number % len(MODES)])
        settings, inputs, words = draw.settings, draw.inputs, list(draw.words)
        settings.pop("softcap", None)
        wanted = rng.choice([("alibi",), ("sinks",), ("qk_norm",), ("alibi", "sinks"), ("qk_norm", "sinks"),
                             ("alibi", "sinks", "qk_norm")])
        if "alibi" in wanted:
            settings["alibi"] = True
        if "sinks" in wanted:
            inputs["sinks"] = recipe((draw.H,), 70000 + 10 * number)
            settings.pop("empty_rows", None)
        if "qk_norm" in wanted:
            settings["qk_norm"] = rng.choice(["rms", "layer", "l2"]) if draw.D > 1 else "rms"
            if rng.random() < 0.3:
                settings["norm_eps"] = 1e-3
            for at, gain in enumerate(("q_norm", "k_norm")):
                if rng.random() < 0.6:
                    inputs[gain] = recipe((draw.D,), 70001 + 10 * number + at)
        given = draw.given()
        golden.add(f"{number:03d} " + " ".join(words + list(wanted)), settings, inputs, given)
        seen.update(wanted)
        seen.update([str(settings.get("qk_norm")), f"H={draw.H}"])
    golden.write("extras")
    print(dict(seen))


def recipe(shape, tag, divide=1, dtype="float32", **more):
    return {"shape": list(shape), "dtype": dtype, "tag": tag, "divide": divide, **more}


def weights(tag, E, D, Dv, divide, out_in=False):
    shapes = {"wq": (E, D), "wk": (E, D), "wv": (E, Dv)}
    return {n: recipe(s[::-1] if out_in else s, tag + at, divide) for at, (n, s) in enumerate(shapes.items())}


def biases(tag, D, Dv):
    return {n: recipe((width,), tag + at, 4) for at, (n, width) in enumerate((("bq", D), ("bk", D), ("bv", Dv)))}


def make_documents():
    """The examples of the two tutorials that the program comes from, each against a module as they write it."""
    golden = Golden(512)
    lower = {"shape": [10, 10], "dtype": "int64", "data": torch.ones(10, 10).tril().long().reshape(-1).tolist()}
    cases = {
        "batch": ({}, {"x": recipe((2, 4, 8), 90001), **weights(90002, 8, 4, 8, 2)}),
        "linear layers": ({"weight_order": "out_in"}, {
            "x": recipe((2, 4, 8), 90011), **weights(90012, 8, 4, 8, 2, out_in=True), **biases(90015, 4, 8)}),
        "sentence": ({}, {"x": recipe((6, 3), 90021), **weights(90022, 3, 2, 4, 2)}),
        "enhanced": ({"fill": -1e9, "scale": 0.5}, {
            "x": recipe((10, 8), 90031), **weights(90032, 8, 4, 8, 2), "mask": lower}),
        "heads": ({"heads": 8}, {
            "x": recipe((1, 3, 512), 90041), **weights(90042, 512, 512, 512, 16),
            "wo": recipe((512, 512), 90045, 16)}),
        "cross": ({}, {
            "x": recipe((2, 4, 8), 90051), "context": recipe((2, 7, 8), 90052), **weights(90053, 8, 4, 8, 2)}),
        "packed": ({"heads": 2, "weight_order": "out_in"}, {
            "x": recipe((2, 5, 8), 90061), "wqkv": recipe((24, 8), 90062, 2), "bqkv": recipe((24,), 90063, 4),
            "wo": recipe((8, 8), 90064, 2), "bo": recipe((8,), 90065, 4)}),
        "warm": ({"temperature": 4.0}, {"x": recipe((6, 3), 90021), **weights(90022, 3, 2, 4, 2)}),
        "cool": ({"temperature": 0.5}, {"x": recipe((6, 3), 90021), **weights(90022, 3, 2, 4, 2)}),
    }
    for name, (settings, inputs) in cases.items():
        given = {n: made(r) for n, r in inputs.items()}
        if "weight_order" in settings:
            given = {n: t.T if n[0] == "w" else t for n, t in given.items()}
        stages, _ = golden.add(name, settings, inputs, given)
        if "wqkv" in given:
            agree(packed_module(given)(given["x"], given["x"], given["x"])[0], stages["out"].value.squeeze(1))
            for role in "wb":
                given.update(zip((role + n for n in "qkv"), given[role + "qkv"].chunk(3, -1)))
        agree(as_the_tutorials_do(given, settings), stages["out"].value.squeeze(1))
    golden.write("documents")


def packed_module(given):
    """torch.nn.MultiheadAttention with these weights."""
    module = torch.nn.MultiheadAttention(8, 2, batch_first=True, dtype=torch.float64)
    module.load_state_dict({"in_proj_weight": given["wqkv"].T, "in_proj_bias": given["bqkv"],
                            "out_proj.weight": given["wo"].T, "out_proj.bias": given["bo"]})
    return module


def as_the_tutorials_do(given, settings):
    """Single heads in a list: softmax(q k^T / d**0.5) v with -1e9 where the mask is 0; then joined."""
    x, outs, H = given["x"], [], settings.get("heads", 1)
    x = x if x.dim() == 3 else x[None]
    context = given.get("context", x)
    zero = torch.zeros(H, dtype=torch.float64)
    biased = (given[n].chunk(H) if n in given else zero for n in ("bq", "bk", "bv"))
    for wq, wk, wv, bq, bk, bv in zip(*(given[n].chunk(H, 1) for n in ("wq", "wk", "wv")), *biased):
        q = x @ wq + bq
        k = context @ wk + bk
        v = context @ wv + bv
        scores = q @ k.transpose(1, 2) / settings.get("temperature", k.shape[-1] ** 0.5)
        if "mask" in given:
            scores = scores.masked_fill(given["mask"] == 0, -1e9)
        outs.append(torch.softmax(scores, -1) @ v)
    out = torch.cat(outs, -1)
    return out @ given["wo"] + given.get("bo", 0) if "wo" in given else out


if __name__ == "__main__":
    make_grid()
    make_extras()
    make_documents()

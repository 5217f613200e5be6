#!/usr/bin/env python3
"""Makes masks.npz and masks.json: attention with mistakes in masks, computed by NumPy alone.

usage: python3 make_masks.py

masks.json lists the cases: the fault, the settings and inputs that the user asked for, and what each
stage of the code with the mistake holds, by the names of members of masks.npz; equal tensors have one.
The arithmetic is float64; tensors are stored as float32.
"""
import json

import numpy as np

INF = float("inf")
random = np.random.default_rng(20240611)
tensors, cases = {}, []


def softmax(x):
    """Over the last axis; a row of -inf alone gives NaN, as in the plainest code."""
    with np.errstate(invalid="ignore", over="ignore"):
        e = np.exp(x - x.max(axis=-1, keepdims=True))
        return e / e.sum(axis=-1, keepdims=True)


def normal(*shape):
    """Numbers that float32 holds exactly, for arithmetic in float64."""
    return random.standard_normal(shape).astype(np.float32).astype(np.float64)


class Code:
    """Somebody's attention: q (B,L,H*D), k (B,S,G*D), v (B,S,G*Dv), wo (H*Dv,E)."""

    def __init__(self, B, H, G, L, S, D=3, Dv=4, E=5, P=0):
        self.B, self.H, self.G, self.L, self.S, self.D, self.Dv, self.P = B, H, G, L, S, D, Dv, P
        self.q = normal(B, L, H * D)
        self.k = normal(B, S - P, G * D)
        self.v = normal(B, S - P, G * Dv)
        self.wo = normal(H * Dv, E)
        self.inputs = {"q": self.q, "k": self.k, "v": self.v, "wo": self.wo}
        if P:
            self.inputs["past_k"] = normal(B, G, P, D)
            self.inputs["past_v"] = normal(B, G, P, Dv)
        self.settings = {"heads": H, "kv_heads": G}

    def heads_of(self, x, heads):
        return x.reshape(self.B, x.shape[1], heads, -1).transpose(0, 2, 1, 3)

    def scaled(self):
        q = self.heads_of(self.q, self.H)
        k = self.heads_of(self.k, self.G)
        if self.P:
            k = np.concatenate([self.inputs["past_k"], k], axis=2)
        scores = q @ k.repeat(self.H // self.G, axis=1).swapaxes(-1, -2)
        return scores, scores / np.sqrt(self.D)

    def finish(self, stages, attn):
        v = self.heads_of(self.v, self.G)
        if self.P:
            v = np.concatenate([self.inputs["past_v"], v], axis=2)
        heads = attn @ v.repeat(self.H // self.G, axis=1)
        concat = heads.transpose(0, 2, 1, 3).reshape(self.B, self.L, -1)
        stages.update(attn=attn, heads=heads, concat=concat, out=concat @ self.wo)
        return stages

    def run(self, masked=lambda x: x, attn=lambda a: a, has_masked=True):
        """`masked` is what the code does before the softmax, `attn` what it does after it."""
        scores, scaled = self.scaled()
        before = masked(scaled)
        stages = {"scores": scores, "scaled": scaled}
        if has_masked:
            stages["masked"] = before
        return self.finish(stages, attn(softmax(before)))

    def ask(self, **settings):
        """What the user asks qkv for: arrays are inputs, the rest settings."""
        for name, value in settings.items():
            if isinstance(value, np.ndarray):
                self.inputs[name] = value
            else:
                self.settings[name] = value
        return self


def member(value):
    if value.dtype == np.float64:
        with np.errstate(over="ignore"):
            value = value.astype(np.float32)
    for name, other in tensors.items():
        if other.dtype == value.dtype and np.array_equal(other, value, equal_nan=value.dtype != bool):
            return name
    tensors[f"t{len(tensors)}"] = value
    return f"t{len(tensors) - 1}"


def case(fault, form, code, stages):
    cases.append({"fault": fault, "form": form, "settings": code.settings,
                  "inputs": {key: member(value) for key, value in code.inputs.items()},
                  "got": {key: member(value) for key, value in stages.items()}})


def put(hidden, fill=-INF):
    return lambda x: np.where(hidden, fill, x)


def zero_empty(hidden):
    """A guard that many have: rows without a key become 0."""
    return lambda a: np.where(np.broadcast_to(hidden, a.shape).all(axis=-1, keepdims=True), 0, a)


def some_mask(*shape):
    """About half is True; every row and every column keeps a key in the last two axes."""
    mask = random.random(shape) < 0.5
    L, S = shape[-2], shape[-1]
    for i in range(max(L, S)):
        mask[..., i % L, (2 * i + 1) % S] = True
    return mask


def padding_of(lengths, S):
    return np.arange(S)[None, :] < np.array(lengths)[:, None]


def future(L, S, offset=0):
    return np.arange(S)[None, :] > np.arange(L)[:, None] + offset


# --- the mask or the padding as a whole

for H, G in ((4, 2), (1, 1)):
    code = Code(2, H, G, 5, 7)
    keep = some_mask(2, 1, 5, 7)
    code.ask(mask=keep)
    form = f"{H}-heads"
    case("mask-missing", form, code, code.run(has_masked=False))
    case("mask-inverted", form, code, code.run(put(keep), zero_empty(keep)))
    case("mask-after-softmax", form, code, code.run(attn=lambda a: a * keep, has_masked=False))
    case("mask-multiplied", form, code, code.run(lambda x: x * keep))
    case("mask-bool-added", form, code, code.run(lambda x: x + keep))
    case("mask-bool-added", form + "-hide", code, code.run(lambda x: x + ~keep))
    case("mask-fill-small", form, code, code.run(put(~keep, 1e-9)))
    case("mask-fill-small", form + "-minus-3", code, code.run(put(~keep, -3.25)))
    case("mask-fill-small", form + "-added", code, code.run(lambda x: np.where(keep, x, x - 4.5)))
    with np.errstate(invalid="ignore"):
        overflow = code.run(lambda x: x * keep - INF * (1.0 - keep))
    case("mask-fill-overflow", form, code, overflow)

code = Code(2, 4, 4, 5, 6)
keep = padding_of([4, 6], 6)[:, None, None, :]
code.ask(key_padding=keep[:, 0, 0, :], causal=True, causal_align="end")
late = future(5, 6, 1)
case("mask-missing", "padding-beside-causal", code, code.run(put(late)))
case("mask-inverted", "padding-beside-causal", code, code.run(put(keep | late, -1e9)))
case("mask-after-softmax", "padding-beside-causal", code, code.run(put(late), lambda a: a * keep))
case("mask-multiplied", "padding-beside-causal", code,
     code.run(lambda x: np.where(late, -INF, x * keep)))
case("mask-fill-small", "padding-beside-causal", code,
     code.run(lambda x: np.where(late, -INF, np.where(keep, x, -2.0))))

code = Code(2, 2, 2, 6, 6)
code.ask(causal=True)
late = future(6, 6)
case("mask-after-softmax", "causal", code, code.run(attn=lambda a: a * ~late))
case("mask-multiplied", "causal", code, code.run(lambda x: x * ~late))
case("mask-bool-added", "causal", code, code.run(lambda x: x + ~late))
case("mask-fill-small", "causal", code, code.run(put(late, -5.0)))
with np.errstate(invalid="ignore"):
    case("mask-fill-overflow", "causal", code, code.run(lambda x: x + np.where(late, -INF, np.nan)))

# --- the mask on other axes

code = Code(2, 3, 3, 5, 5)
keep = some_mask(2, 1, 5, 5)
code.ask(mask=keep)
case("mask-transposed", "3-heads", code, code.run(put(~keep.swapaxes(-1, -2))))
code = Code(2, 3, 1, 5, 5)
added = np.where(some_mask(5, 5), normal(5, 5), -INF)
code.ask(mask=added)
case("mask-transposed", "added", code, code.run(lambda x: x + added.T))

code = Code(3, 3, 3, 5, 7)
keep = padding_of([4, 7, 5], 7)
code.ask(key_padding=keep)
case("mask-axis", "padding-on-heads", code, code.run(put(~keep[None, :, None, :])))
code = Code(3, 2, 2, 3, 7)
code.ask(key_padding=keep)
case("mask-axis", "padding-on-queries-axis", code, code.run(put(~keep[None, None])))
code = Code(3, 6, 3, 4, 7)
keep = some_mask(3, 1, 4, 7)
code.ask(mask=keep)
case("mask-axis", "batch-on-key-value-heads", code,
     code.run(put(~keep[:, 0].repeat(2, axis=0)[None])))
code = Code(2, 2, 2, 4, 5)
keep = some_mask(1, 2, 4, 5)
code.ask(mask=keep)
case("mask-axis", "heads-on-batch", code, code.run(put(~keep.swapaxes(0, 1))))
code = Code(1, 2, 2, 5, 5)
keep = np.array([True, True, False, True, False])
code.ask(mask=keep)
case("mask-axis", "keys-on-queries", code,
     code.run(put(~keep[:, None]), zero_empty(~keep[:, None] | np.zeros((5, 5), bool))))

code = Code(2, 4, 2, 5, 7)
keep = some_mask(2, 1, 5, 7)
code.ask(mask=keep)
tiles = np.tile(keep[:, 0], (4, 1, 1)).reshape(2, 4, 5, 7)
case("mask-head-order", "tiled", code, code.run(put(~tiles)))
code = Code(2, 3, 3, 4, 5)
keep = some_mask(2, 3, 4, 5)
code.ask(mask=keep)
by_heads = keep.swapaxes(0, 1).reshape(2, 3, 4, 5)
case("mask-head-order", "by-heads", code, code.run(put(~by_heads)))
code = Code(2, 3, 3, 4, 5)
code.ask(lengths=np.array([3, 5]))
keep = padding_of([3, 5], 5)[:, None, None, :]
case("mask-head-order", "lengths", code,
     code.run(put(~np.tile(keep[:, 0], (3, 1, 1)).reshape(2, 3, 1, 5))))

for way, fill, guard in (("nan", -INF, False), ("uniform", -1e9, False), ("zero", -INF, True)):
    code = Code(2, 2, 2, 5, 5)
    keep = padding_of([3, 4], 5)
    code.ask(key_padding=keep)
    hidden = ~keep[:, None, :, None] | np.zeros((2, 1, 5, 5), bool)
    case("padding-on-queries", way, code,
         code.run(put(hidden, fill), zero_empty(hidden) if guard else lambda a: a))
    both = hidden | ~keep[:, None, None, :]
    case("padding-on-queries", "keys-too-" + way, code,
         code.run(put(both, fill), zero_empty(both) if guard else lambda a: a))

# --- rules of position

for L, S, P in ((6, 6, 0), (4, 7, 0), (3, 8, 5)):
    code = Code(2, 2, 1, L, S, P=P)
    code.ask(causal=True)
    form = f"{L}-queries-{S}-keys" + (f"-{P}-cached" if P else "")
    case("causal-missing", form, code, code.run(has_masked=False))
    case("causal-one-ahead", form, code, code.run(put(future(L, S, P + 1))))
    strict = future(L, S, P - 1)
    case("causal-strict", form, code, code.run(put(strict)))
    case("causal-strict", form + "-uniform", code, code.run(put(strict, -1e9)))
    past = np.arange(S)[None, :] < np.arange(L)[:, None] + P
    case("causal-reversed", form, code, code.run(put(past)))
    case("causal-reversed", form + "-inverted", code,
         code.run(put(~future(L, S, P)), zero_empty(~future(L, S, P))))
    if L != S - P:
        case("causal-align", form, code, code.run(put(future(L, S, S - L))))
    if P:
        case("causal-align", form, code, code.run(put(future(L, S, 0))))

code = Code(2, 2, 2, 4, 7)
code.ask(causal=True, causal_align="end", lengths=np.array([5, 7]))
keep = padding_of([5, 7], 7)[:, None, None, :]
case("causal-align", "lengths-forgotten", code, code.run(put(future(4, 7, 3) | ~keep)))
code = Code(1, 2, 2, 6, 4)
code.ask(causal=True)
rows = future(6, 4, -2)
case("causal-align", "more-queries-than-keys", code, code.run(put(rows), zero_empty(rows)))

for left, right, causal in ((2, -1, True), (2, 1, False), (0, 2, False)):
    code = Code(2, 2, 2, 7, 7)
    code.ask(window=[left, right], causal=causal)
    i, j = np.arange(7)[:, None], np.arange(7)[None, :]

    def outside(a, b):
        return (j < i - a) | ((j > i + b) if b >= 0 else False) | (causal & (j > i))

    form = f"{left},{right}"
    case("window-off-by-one", form + "-wider", code, code.run(put(outside(left + 1, right))))
    if left > 0:
        case("window-off-by-one", form + "-narrower", code, code.run(put(outside(left - 1, right))))
    if right > 0:
        case("window-off-by-one", form + "-right", code, code.run(put(outside(left, right - 1))))

# --- queries that see no key

code = Code(2, 2, 2, 5, 6)
keep = some_mask(2, 1, 5, 6)
keep[0, 0, 2] = keep[1, 0, 0] = False
code.ask(mask=keep)
case("empty-rows-nan", "mask", code, code.run(put(~keep)))
case("empty-rows-uniform", "mask", code, code.run(put(~keep, -1e9)))
case("empty-rows-unmasked", "mask", code, code.run(lambda x: np.where(keep, x, x - 1e4)))
code = Code(2, 2, 2, 5, 5)
keep = padding_of([5, 5], 5).copy()
keep[1, :2] = False
code.ask(key_padding=keep, causal=True)
padded, late = ~keep[:, None, None, :], future(5, 5)
case("empty-rows-nan", "left-padding", code, code.run(put(padded | late)))
case("empty-rows-uniform", "left-padding", code, code.run(put(padded | late, -1e9)))
lowest = np.finfo(np.float32).min.astype(np.float64)
case("empty-rows-uniform", "sum-of-lowest", code, code.run(
    lambda x: np.where(padded & late, -INF, np.where(padded | late, lowest, x))))
case("empty-rows-unmasked", "left-padding", code,
     code.run(lambda x: x - 1e4 * (padded | late)))

np.savez_compressed("masks.npz", **tensors)
with open("masks.json", "w") as file:
    file.write("[\n" + ",\n".join(json.dumps(one) for one in cases) + "\n]\n")
print(len(cases), "cases,", len(tensors), "tensors")

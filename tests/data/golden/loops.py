# loops.py: the same attention one element at a time in NumPy, to hold reference.py to the words of the manual.
import math
import sys

import numpy as np


def by_head(y, n):
    """(B,N,n*d) -> (B,n,N,d)"""
    d = y.shape[-1] // n
    return np.stack([y[:, :, h * d:(h + 1) * d] for h in range(n)], axis=1)


def linear(x, w, b):
    y = np.zeros(x.shape[:-1] + w.shape[1:])
    for index in np.ndindex(y.shape):
        y[index] = sum(x[index[:-1]] * w[:, index[-1]]) + (0 if b is None else b[index[-1]])
    return y


def cut_fused(y, order, H, G):
    """Which block of D columns each head of q, k and v is, in the three layouts."""
    r, D = H // G, y.shape[-1] // (H + 2 * G)
    q, k, v = (np.zeros((y.shape[0], n, y.shape[1], D)) for n in (H, G, G))
    for h in range(H):
        block = {"blocks": h, "per_head": 3 * h, "per_group": h // r * (r + 2) + h % r}[order]
        q[:, h] = y[:, :, block * D:(block + 1) * D]
    for g in range(G):
        block = {"blocks": H + g, "per_head": 3 * g + 1, "per_group": g * (r + 2) + r}[order]
        k[:, g] = y[:, :, block * D:(block + 1) * D]
        block = {"blocks": H + G + g, "per_head": 3 * g + 2, "per_group": g * (r + 2) + r + 1}[order]
        v[:, g] = y[:, :, block * D:(block + 1) * D]
    return q, k, v


def q_k_v(given, s, stages):
    H, G = s.get("heads", 1), s.get("kv_heads", s.get("heads", 1))
    if "x" not in given:
        q, k, v = given["q"], given["k"], given["v"]
        if q.ndim == 4:
            return [np.swapaxes(t, 1, 2) for t in (q, k, v)] if s.get("layout") == "blhd" else [q, k, v]
        return [by_head(t if t.ndim == 3 else t[None], n) for t, n in ((q, H), (k, G), (v, G))]
    sources = {n: given[n].reshape((-1,) + given[n].shape[-2:]) for n in ("x", "context") if n in given}
    stages.update({n: t[:, None] for n, t in sources.items()})
    x, context = sources["x"], sources.get("context", sources["x"])
    if "wqkv" in given:
        return cut_fused(linear(x, given["wqkv"], given.get("bqkv")), s.get("qkv_order", "blocks"), H, G)
    plan = ((x, "q", H), (context, "k", G), (context, "v", G))
    return [by_head(linear(t, given["w" + n], given.get("b" + n)), heads) for t, n, heads in plan]


def rotate(t, position, s):
    n = s.get("rope_dim", t.shape[-1])
    turned = t.copy()
    for b, i, p in np.ndindex(t.shape[0], t.shape[2], n // 2):
        angle = position(b, i) * s["rope_base"] ** (-2 * p / n)
        first, second = (p, p + n // 2) if s.get("rope_style", "half") == "half" else (2 * p, 2 * p + 1)
        turned[b, :, i, first] = math.cos(angle) * t[b, :, i, first] - math.sin(angle) * t[b, :, i, second]
        turned[b, :, i, second] = math.sin(angle) * t[b, :, i, first] + math.cos(angle) * t[b, :, i, second]
    return turned


def hides(given, s, b, i, j, L, S, P):
    """The rules that do not depend on the mask."""
    offset = P
    if s.get("causal_align") == "end":
        offset = (int(given["lengths"][b]) if "lengths" in given else S) - L
    own = i + (offset if s.get("window_shifts", True) else 0)
    left, right = s.get("window", (-1, -1))
    if s.get("causal") and j > i + offset:
        return True
    if left >= 0 and own - j > left or right >= 0 and j - own > right:
        return True
    if "lengths" in given and j >= given["lengths"][b]:
        return True
    if "key_padding" not in given:
        return False
    return bool(given["key_padding"].reshape(-1, S)[b, j]) == (s.get("padding_true") == "hide")


def masked_row(row, given, s, at, shape, P):
    """What the scores of one query become, and whether it sees a key."""
    (b, h, i), (L, S) = at, shape[2:]
    fill = {"-inf": -math.inf, "min": -sys.float_info.max}.get(s.get("fill", "-inf"), s.get("fill"))
    mask = given.get("mask")
    result, sees = row.copy(), False
    for j in range(S):
        hidden, gone = hides(given, s, b, i, j, L, S, P), False
        if mask is not None and j >= mask.shape[-1] > 1:
            hidden = True
        elif mask is not None:
            spread = mask[(None,) * (4 - mask.ndim)]
            entry = spread[tuple(a if n > 1 else 0 for a, n in zip((b, h, i, j), spread.shape))]
            if mask.dtype == np.float64:
                result[j] += entry
                gone = entry == -math.inf
            else:
                hidden = hidden or bool(entry) == (s.get("mask_true") == "hide")
        if hidden and not gone:
            result[j] = fill
        sees = sees or not (hidden or gone)
    return result, sees


def attention_by_loops(given, s):
    """{stage: array} in order, given as reference.attention() takes it but in NumPy."""
    stages = {}
    q, k, v = stages["q"], stages["k"], stages["v"] = q_k_v(given, s, stages)
    (B, H, L, D), new = q.shape, k.shape[2]
    P = given["past_k"].shape[-2] if "past_k" in given else 0
    if "rope_base" in s:
        at = lambda b, i: s.get("first_position", P) + i
        if "position" in given:
            at = lambda b, i: given["position"].reshape(-1, L)[b % (given["position"].size // L), i]
        q = stages["q_rope"] = rotate(q, at, s)
        k = stages["k_rope"] = rotate(k, at if new == L else lambda b, j: P + j, s)
    if P:
        past = [given[n].reshape((B, -1, P, t.shape[3])) for n, t in (("past_k", k), ("past_v", v))]
        k, v = np.concatenate([past[0], k], 2), np.concatenate([past[1], v], 2)
    repeat, S = H // k.shape[1], k.shape[2]
    x = np.zeros((B, H, L, S))
    for b, h, i, j in np.ndindex(x.shape):
        x[b, h, i, j] = sum(q[b, h, i] * k[b, h // repeat, j])
    stages["scores"] = x
    x = stages["scaled"] = x * s["scale"] if "scale" in s else x / s.get("temperature", math.sqrt(D))
    if "softcap" in s:
        x = stages["capped"] = s["softcap"] * np.tanh(x / s["softcap"])
    masked, attn, heads = x.copy(), np.zeros_like(x), np.zeros((B, H, L, v.shape[3]))
    for b, h, i in np.ndindex(B, H, L):
        masked[b, h, i], sees = masked_row(x[b, h, i], given, s, (b, h, i), x.shape, P)
        exponentials = [math.exp(t - max(masked[b, h, i])) for t in masked[b, h, i]] if sees else []
        empty = {"zero": 0, "nan": math.nan, "uniform": 1 / S}[s.get("empty_rows", "zero")]
        attn[b, h, i] = [e / sum(exponentials) for e in exponentials] if sees else empty
        heads[b, h, i] = sum(attn[b, h, i, j] * v[b, h // repeat, j] for j in range(S))
    if s.get("causal") or "window" in s or {"mask", "key_padding", "lengths"} & set(given):
        stages["masked"] = masked
    stages["attn"] = attn
    rank_four = "q" in given and given["q"].ndim == 4
    if H > 1 or "wo" in given or rank_four:
        stages["heads"] = heads
    out = concat = np.concatenate([heads[:, h] for h in range(H)], -1)[:, None]
    if "heads" in stages and ("wo" in given or not rank_four):
        stages["concat"] = concat
    if "wo" in given:
        out = linear(concat, given["wo"], given.get("bo"))
    elif rank_four:
        out = np.swapaxes(heads, 1, 2) if s.get("layout") == "blhd" else heads
    stages["out"] = out
    return stages

# reference.py: attention in torch float64, stage by stage, each value beside a bound on its rounding error.
import dataclasses
import math

import numpy as np
import torch

LOWEST = torch.finfo(torch.float64).min


@dataclasses.dataclass
class Num:
    """A tensor, and a first-order bound on the error that rounding may leave in each element of it.

    The bound counts in units of the arithmetic's epsilon, twice what rounding to nearest costs, so a bound on
    a result in float or double is `error * epsilon` with room for what is second order.
    """

    value: torch.Tensor
    error: torch.Tensor

    def map(self, change):
        return Num(change(self.value), change(self.error))


def exact(tensor):
    return Num(tensor, torch.zeros_like(tensor))


def product(a, b):
    """a @ b; a sum of n products in any order errs by at most n rounding errors of the sum of their sizes."""
    a_size, b_size = a.value.abs(), b.value.abs()
    error = a.value.shape[-1] * (a_size @ b_size) + a.error @ b_size + a_size @ b.error
    return Num(a.value @ b.value, error)


def linear(x, weight, bias):
    y = product(x, exact(weight))
    if bias is None:
        return y
    value = y.value + bias
    return Num(value, y.error + y.value.abs() + bias.abs())


def split_heads(x, heads):
    """(B,L,H*D) -> (B,H,L,D)"""
    return x.map(lambda t: t.unflatten(-1, (heads, t.shape[-1] // heads)).movedim(2, 1))


def repeat_heads(x, times):
    return x.map(lambda t: t.repeat_interleave(times, dim=1))


def unfused(columns, order, H, G):
    """(·, N) fused -> the columns of q, k and v."""
    if order == "blocks":
        D = columns.shape[-1] // (H + 2 * G)
        return columns.split([H * D, G * D, G * D], dim=-1)
    if order == "per_head":
        by_head = columns.unflatten(-1, (H, 3, -1))
        return tuple(by_head[..., n, :].flatten(-2) for n in range(3))
    by_group = columns.unflatten(-1, (G, H // G + 2, -1))
    q, k, v = by_group[..., :-2, :], by_group[..., -2, :], by_group[..., -1, :]
    return q.flatten(-3), k.flatten(-2), v.flatten(-2)


def rotated(x, positions, s):
    """RoPE as a product of complex numbers; positions (B or 1, N)."""
    n = s.get("rope_dim", x.value.shape[-1])
    half = s.get("rope_style", "half") == "half"

    def pairs(t):
        return t[..., :n].unflatten(-1, (2, n // 2)).mT if half else t[..., :n].unflatten(-1, (n // 2, 2))

    exponent = -2 * torch.arange(n // 2, dtype=torch.float64) / n
    angle = positions.double()[:, None, :, None] * s["rope_base"] ** exponent
    turned = torch.complex(*pairs(x.value).unbind(-1)) * torch.polar(torch.ones_like(angle), angle)
    value = torch.stack((turned.real, turned.imag), -1)
    # The angle itself is known to a few roundings of its size, more where its power is made by exp and log.
    size = pairs(x.value).abs().sum(-1, keepdim=True)
    error = pairs(x.error).sum(-1, keepdim=True) + (3 + 8 * angle.abs()[..., None]) * size

    def together(t, rest):
        return torch.cat([(t.mT if half else t).flatten(-2), rest[..., n:]], -1)

    return Num(together(value, x.value), together(error.expand_as(value), x.error))


def visibility(given, s, B, H, L, S, P):
    """hidden (B,H,L,S), and what a float mask adds (or none)."""
    i, j = torch.arange(L)[:, None], torch.arange(S)
    offset = torch.full((B, 1, 1, 1), P)
    if s.get("causal_align", "start") == "end":
        offset = given.get("lengths", torch.full((B,), S)).view(B, 1, 1, 1) - L
    hidden, added = torch.zeros(B, H, L, S, dtype=torch.bool), None
    if s.get("causal"):
        hidden = hidden | (j > i + offset)
    if "window" in s:
        left, right = s["window"]
        own = i + (offset if s.get("window_shifts", True) else 0)
        hidden = hidden | ((j < own - left) & (left >= 0)) | ((j > own + right) & (right >= 0))
    if "lengths" in given:
        hidden = hidden | (j >= given["lengths"].view(B, 1, 1, 1))
    if "key_padding" in given:
        real = (given["key_padding"] != 0) == (s.get("padding_true", "attend") == "attend")
        hidden = hidden | ~real.view(B, 1, 1, S)
    if "mask" in given:
        mask = given["mask"]
        lacking = S - mask.shape[-1] if s.get("short_mask_hides") else 0
        if mask.is_floating_point():
            added = torch.nn.functional.pad(mask, (0, lacking), value=-math.inf).expand(B, H, L, S)
        else:
            hides = (mask != 0) != (s.get("mask_true", "attend") == "attend")
            hidden = hidden | torch.nn.functional.pad(hides, (0, lacking), value=True)
    return hidden, added


def masked_scores(x, hidden, added, fill):
    """Hidden scores are replaced by the fill; -inf in a float mask hides for good."""
    value, error = x.value, x.error
    if added is not None:
        value = (value + added).masked_fill(added.isneginf(), -math.inf)
        error = torch.where(value.isinf(), 0.0, error + value.abs())
    fill = {"-inf": -math.inf, "min": LOWEST}.get(fill, fill)
    replaced = hidden if added is None else hidden & ~added.isneginf()
    return Num(value.masked_fill(replaced, fill), error.masked_fill(replaced, 0.0))


def alibi_biases(H, L, S, offset):
    """-slope * distance, slopes as Press et al. write their recipe; offset (B,1,1,1)."""

    def power_of_two(n):
        start = 2 ** (-(2 ** -(math.log2(n) - 3)))
        return [start * start ** i for i in range(n)]

    def slopes(n):
        if math.log2(n).is_integer():
            return power_of_two(n)
        closest = 2 ** math.floor(math.log2(n))
        return power_of_two(closest) + slopes(2 * closest)[0::2][: n - closest]

    distance = (torch.arange(L)[:, None] + offset - torch.arange(S)).abs()
    return -torch.tensor(slopes(H), dtype=torch.float64).view(1, H, 1, 1) * distance


def normalised(x, kind, eps, gain):
    """The moments err by a few roundings each, and by what their terms err."""
    value, error, D = x.value, x.error, x.value.shape[-1]
    if kind == "rms":
        y = value / (value.square().mean(-1, keepdim=True) + eps).sqrt()
    elif kind == "layer":
        y = torch.nn.functional.layer_norm(value, (D,), eps=eps)
    else:
        y = torch.nn.functional.normalize(value, dim=-1, eps=eps)
    size = value.square().sum(-1, keepdim=True).sqrt()
    if kind == "layer":
        size = (value - value.mean(-1, keepdim=True)).square().sum(-1, keepdim=True).sqrt()
    root = 1 if kind == "l2" else math.sqrt(D)
    # Division by size/root; the mean and the mean square pass on every error of the row.
    passed = (error + error.mean(-1, keepdim=True) + 2 * value.abs().amax(-1, keepdim=True)) * root / size
    spread = y.abs() * (error.square().sum(-1, keepdim=True).sqrt() / size + D + 6)
    return Num(y * gain, (passed + spread + 2 * y.abs()) * gain.abs())


def softmax(x, empty, policy, sinks=None):
    """Over the last axis. Each exponent errs by its own bound and by its distance from the maximum.

    sinks (H): one more column, which is dropped; a query that sees no key gives it all of its weight.
    """
    if sinks is not None:
        column = sinks.view(1, -1, 1, 1).expand(x.value.shape[:-1] + (1,))
        x = Num(torch.cat([x.value, column], -1), torch.cat([x.error, column * 0], -1))
        whole = softmax(x, torch.zeros_like(empty), "zero")
        return whole.map(lambda t: t[..., :-1].masked_fill(empty, 0.0))
    distance = (x.value - x.value.amax(-1, keepdim=True)).abs()
    # Where every logit is -inf, another number takes their place: autograd would carry NaN back through the row.
    weight = torch.softmax(x.value.masked_fill(empty, 0.0), -1)
    weight = weight.masked_fill(empty, {"zero": 0, "nan": math.nan, "uniform": 1 / weight.shape[-1]}[policy])
    relative = torch.where(weight > 0, x.error + distance + 2, 0.0)
    relative = relative + (weight * relative).sum(-1, keepdim=True) + weight.shape[-1] + 2
    return Num(weight, (weight * relative).masked_fill(empty, 1 if policy == "uniform" else 0))


def kept(p, seed, count):
    """Which places dropout keeps: SplitMix64 of the seed and the place, 53 bits as a fraction."""

    def mixed(x):
        x = (x + np.uint64(0x9E3779B97F4A7C15)).astype(np.uint64)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return x ^ (x >> np.uint64(31))

    random = mixed(mixed(np.array([seed], np.uint64)) ^ np.arange(count, dtype=np.uint64))
    return torch.from_numpy((random >> np.uint64(11)).astype(np.float64) * 2.0 ** -53 >= p)


def dropped(x, p, seed):
    keeps = kept(p, seed, x.value.numel()).reshape(x.value.shape)
    factor = keeps.double() / (1 - p)
    value = torch.where(keeps, x.value * factor, 0.0)  # a NaN that is dropped is gone
    return Num(value, x.error * factor + 2 * value.abs())


def cut_qkv(given, s, keep):
    """q (B,H,L,D), k, v (B,G,S-P,·) from x and weights, or as they were given."""
    H, G = s.get("heads", 1), s.get("kv_heads", s.get("heads", 1))
    if "x" in given:
        source = {n: exact(given[n].reshape((-1,) + given[n].shape[-2:])) for n in ("x", "context") if n in given}
        source = {n: keep(n, t.map(lambda v: v[:, None])).map(lambda v: v[:, 0]) for n, t in source.items()}
        weights = [given.get(n) for n in ("wq", "wk", "wv")]
        biases = [given.get(n) for n in ("bq", "bk", "bv")]
        if "wqkv" in given:
            weights = unfused(given["wqkv"], s.get("qkv_order", "blocks"), H, G)
            if "bqkv" in given:
                biases = unfused(given["bqkv"], s.get("qkv_order", "blocks"), H, G)
        x, context = source["x"], source.get("context", source["x"])
        made = [linear(source, w, b) for source, w, b in zip((x, context, context), weights, biases)]
        return [split_heads(t, n) for t, n in zip(made, (H, G, G))]
    q, k, v = (exact(given[n]) for n in "qkv")
    if q.value.dim() == 4:
        order = (0, 2, 1, 3) if s.get("layout") == "blhd" else (0, 1, 2, 3)
        return [t.map(lambda u: u.permute(order)) for t in (q, k, v)]
    q, k, v = (t.map(lambda u: u.reshape((-1,) + u.shape[-2:])) for t in (q, k, v))
    return [split_heads(q, H), split_heads(k, G), split_heads(v, G)]


def positions_of(given, s, L, new, P):
    """Where queries and new keys stand; the keys with the queries where there are as many."""
    queries = (torch.arange(L) + s.get("first_position", P))[None]
    if "position" in given:
        queries = given["position"].reshape(-1, L)
    return queries, queries if new == L else (P + torch.arange(new))[None]


def attention(given, s, change=lambda stage, num: num):
    """{stage: Num} in order, and {present_k, present_v}.

    given   float64 tensors as the files hold them, weights (in, out); masks and lengths bool or integer
    change  what becomes of each stage before the next step works on it
    """
    stages = {}

    def keep(stage, num):
        stages[stage] = change(stage, num)
        return stages[stage]

    q, k, v = (keep(n, num) for n, num in zip("qkv", cut_qkv(given, s, keep)))
    (B, H, L, D), (G, new) = q.value.shape, k.value.shape[1:3]
    past = [given[n].reshape((B, G) + given[n].shape[-2:]) for n in ("past_k", "past_v") if n in given]
    P = past[0].shape[2] if past else 0
    if "qk_norm" in s:
        eps = s.get("norm_eps", 1e-12 if s["qk_norm"] == "l2" else 1e-6)
        ones = torch.ones(D, dtype=torch.float64)
        q, k = (normalised(t, s["qk_norm"], eps, given.get(n, ones)) for t, n in ((q, "q_norm"), (k, "k_norm")))
        q, k = keep("q_norm", q), keep("k_norm", k)
    if "rope_base" in s:
        at_q, at_k = positions_of(given, s, L, new, P)
        q, k = rotated(q, at_q, s), rotated(k, at_k, s)
        q, k = keep("q_rope", q), keep("k_rope", k)
    if P:
        k, v = (Num(torch.cat([p, t.value], 2), torch.cat([p * 0, t.error], 2)) for p, t in zip(past, (k, v)))
    present = {"present_k": k, "present_v": v}

    x = keep("scores", product(q, repeat_heads(k, H // G).map(lambda t: t.mT)))
    scale = 1 / s["temperature"] if "temperature" in s else s.get("scale", 1 / math.sqrt(D))
    x = keep("scaled", Num(x.value * scale, x.error * abs(scale) + 2 * (x.value * scale).abs()))
    if "softcap" in s:
        value = s["softcap"] * torch.tanh(x.value / s["softcap"])
        x = keep("capped", Num(value, x.error + 4 * value.abs()))
    S = k.value.shape[2]
    hidden, added = visibility(given, s, B, H, L, S, P)
    if s.get("alibi"):
        offset = torch.full((B, 1, 1, 1), P)
        if s.get("causal_align", "start") == "end":
            offset = given.get("lengths", torch.full((B,), S)).view(B, 1, 1, 1) - L
        biases = alibi_biases(H, L, S, offset)
        added = biases if added is None else added + biases
    if s.get("alibi") or s.get("causal") or "window" in s or {"mask", "key_padding", "lengths"} & set(given):
        x = keep("masked", masked_scores(x, hidden, added, s.get("fill", "-inf")))
    gone = hidden if added is None else hidden | added.isneginf()
    x = keep("attn", softmax(x, gone.all(-1, keepdim=True), s.get("empty_rows", "zero"), given.get("sinks")))
    if "dropout" in s:
        x = keep("dropped", dropped(x, s["dropout"], s["seed"]))

    heads = product(x, repeat_heads(v, H // G))
    heads.error.nan_to_num_(0.0)
    rank_four = "q" in given and given["q"].dim() == 4
    if H > 1 or "wo" in given or rank_four:
        heads = keep("heads", heads)
    concat = heads.map(lambda t: t.movedim(1, 2).flatten(2))
    out = concat.map(lambda t: t[:, None])
    if "heads" in stages and not (rank_four and "wo" not in given):
        out = keep("concat", out)
    if "wo" in given:
        out = linear(concat, given["wo"], given.get("bo")).map(lambda t: t[:, None])
        out.error.nan_to_num_(0.0)
    elif rank_four:
        out = heads.map(lambda t: t.movedim(1, 2)) if s.get("layout") == "blhd" else heads
    keep("out", out)
    return stages, present


def shown_shape(stage, shape, given, s):
    """As a user sees it: no B axis where the input had none, no H axis where H = 1 and q, k, v had none."""
    first = given.get("x", given.get("q"))
    rank_four = "x" not in given and first.dim() == 4
    shape = list(shape)
    joined = stage in ("x", "context", "concat", "out") and not (stage == "out" and rank_four and "wo" not in given)
    if joined or (s.get("heads", 1) == 1 and not rank_four):
        del shape[1]
    return shape if first.dim() > 2 else shape[1:]

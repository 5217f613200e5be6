# configs.py: the configurations that mistakes are made on: small, every axis of its own size where a mistake allows.
import numpy as np

from config import config

# From X, one head.

@config(thorough=True)
def plain(d):
    return {"x": d.normal(2, 5, 6), **d.projections(6, 4, 3)}, {}


@config()
def square(d):
    """Everything fits in the wrong place: L = S = D = Dv = E."""
    return {"x": d.normal(3, 4, 4), **d.projections(4, 4, 4)}, {"weight-order": "in-out"}


@config()
def causal(d):
    return {"x": d.normal(5, 6), **d.projections(6, 4, 3, bias=True)}, {"causal": True}


@config()
def window(d):
    return {"x": d.normal(2, 6, 5), **d.projections(5, 3, 2)}, {"window": "2,1"}


# From X, several heads.

@config(thorough=True)
def masked_heads(d):
    mask = d.mask(4, 4)
    mask[np.arange(4), np.arange(4)] = True
    mask[3, :3] = False, True, True
    return ({"x": d.normal(1, 4, 7), **d.projections(7, 5, 2, H=3, bias=True, wo=True), "mask": mask},
            {"heads": 3, "causal": True})


@config(thorough=True)
def linear(d):
    """As nn.Linear holds them: every weight square and out-in."""
    return ({"x": d.normal(2, 4, 9), **d.projections(9, 3, 3, H=3, bias=True, wo=True, out_in=True)},
            {"heads": 3, "weight-order": "out-in"})


@config()
def grouped(d):
    return ({"x": d.normal(1, 4, 7), **d.projections(7, 5, 2, H=6, G=3, wo=True)},
            {"heads": 6, "kv-heads": 3})


@config()
def cross(d):
    """Padded keys of a context; B = L, so the padding fits the queries too."""
    padding = np.array([[1, 1, 1, 0, 0], [1, 0, 1, 1, 1], [0, 1, 1, 1, 0]], bool)
    return ({"x": d.normal(3, 3, 8), "context": d.normal(3, 5, 6), "key_padding": padding,
             **d.projections(8, 4, 1, H=2, context=6, bias=True, wo=True)},
            {"heads": 2, "weight-order": "in-out"})


@config()
def padded(d):
    """Self-attention over padded sentences, causal, True hides; B = H."""
    padding = np.array([[0, 0, 0, 1], [0, 0, 1, 1]], bool)
    return ({"x": d.normal(2, 4, 6), "key_padding": padding, **d.projections(6, 3, 2, H=2)},
            {"heads": 2, "weight-order": "in-out", "causal": True, "padding-true": "hide"})


@config()
def left_padded(d):
    """Causal and padded on the left: the first queries of b=1 see no key."""
    padding = np.array([[1, 1, 1, 1, 1], [0, 0, 1, 1, 1]], bool)
    return ({"x": d.normal(2, 5, 4), "key_padding": padding, **d.projections(4, 3, 4, bias=True, wo=True)},
            {"weight-order": "in-out", "causal": True})


@config()
def batch_square(d):
    """B = L: a batch read as a sequence keeps every shape."""
    return {"x": d.normal(3, 3, 5), **d.projections(5, 4, 2, H=2)}, {"heads": 2, "causal": True}


# Q, K, V given.

@config(thorough=True)
def sample_masks(d):
    """(B,1,L,S) with B = H."""
    return {**d.heads(2, 2, 3, 5, 4, 3), "mask": d.mask(2, 1, 3, 5)}, {}


@config()
def head_masks(d):
    """(B,H,L,S), True hides."""
    return {**d.heads(2, 3, 4, 4, 5, 2), "mask": ~d.mask(2, 3, 4, 4)}, {"mask-true": "hide"}


@config()
def float_mask(d):
    """(H,L,S) with H = B, added."""
    mask = d.normal(2, 4, 4)
    mask[[0, 1, 1], [1, 0, 2], [3, 2, 1]] = -np.inf
    return ({"q": d.normal(2, 4, 10), "k": d.normal(2, 4, 10), "v": d.normal(2, 4, 6), "mask": mask},
            {"heads": 2})


@config(plain_f16=False)
def fill(d):
    """A 0/1 mask of integers and -1e9, as tutorials have it."""
    mask = np.array([[1, 1, 0, 1], [0, 1, 1, 0], [1, 0, 1, 1]], np.int64)
    return ({"q": d.normal(2, 3, 5), "k": d.normal(2, 4, 5), "v": d.normal(2, 4, 3), "mask": mask},
            {"fill": -1e9})


@config()
def empty_row(d):
    """(B,1,L,S) where one query of b=0 and one of b=1 see no key."""
    mask = d.mask(2, 1, 3, 4)
    mask[0, 0, 2], mask[1, 0, 0] = False, False
    return {**d.heads(2, 3, 3, 4, 5, 2), "mask": mask}, {}


@config()
def temperature(d):
    return {"q": d.normal(2, 3, 5), "k": d.normal(2, 4, 5), "v": d.normal(2, 4, 2)}, {"temperature": 1.3}


@config()
def softcap(d):
    mask = np.array([[1, 0, 0, 1], [1, 1, 0, 0], [0, 1, 1, 1], [1, 1, 0, 1]], bool)
    return {**d.heads(1, 2, 4, 4, 5, 3, size=1.6), "mask": mask}, {"softcap": 1.5}


@config()
def softcap_causal(d):
    return {"x": d.normal(5, 4), **d.projections(4, 6, 3)}, {"softcap": 0.8, "causal": True}


@config()
def temperature_heads(d):
    return ({"x": d.normal(2, 3, 7), "context": d.normal(2, 4, 7), **d.projections(7, 5, 2, H=3)},
            {"heads": 3, "temperature": 3.0})


@config()
def causal_start(d):
    return d.heads(2, 2, 3, 5, 4, 3), {"causal": True}


@config()
def causal_end(d):
    return d.heads(1, 4, 3, 6, 4, 2, G=2), {"causal": True, "causal-align": "end"}


@config()
def layout(d):
    given = d.heads(1, 3, 4, 4, 5, 2)
    return {n: np.ascontiguousarray(np.swapaxes(t, 1, 2)) for n, t in given.items()}, {
        "layout": "blhd", "causal": True}


@config()
def heads_as_length(d):
    """H = L = S: exchanging heads and length keeps every shape."""
    return d.heads(2, 3, 3, 3, 4, 5), {}


# Positions.

@config()
def rope_half(d):
    return ({"x": d.normal(1, 3, 5), **d.projections(5, 4, 4, H=4, G=2, wo=True)},
            {"heads": 4, "kv-heads": 2, "causal": True, "rope": 10000})


@config()
def rope_partial(d):
    return ({"x": d.normal(1, 5, 6), **d.projections(6, 6, 3, H=2, G=1, bias=True)},
            {"heads": 2, "kv-heads": 1, "rope": 10000, "rope-dim": 4})


@config()
def rope_interleaved(d):
    return (d.heads(1, 2, 4, 4, 6, 6),
            {"rope": 500000, "rope-style": "interleaved", "rope-dim": 4})


@config(thorough=True)
def cache(d):
    given = {"x": d.normal(1, 3, 5), **d.projections(5, 4, 4, H=4, G=2, wo=True)}
    past = {"past_k": d.normal(1, 2, 2, 4), "past_v": d.normal(1, 2, 2, 4)}
    return {**given, **past}, {"heads": 4, "kv-heads": 2, "causal": True, "rope": 10000}


@config()
def cache_window(d):
    past = {"past_k": d.normal(1, 4, 4, 5), "past_v": d.normal(1, 4, 4, 2)}
    return {**d.heads(1, 4, 3, 3, 5, 2), **past}, {"causal": True, "window": "2"}


# Fused weights.

def fused(d, E, D, H, G):
    N = (H + 2 * G) * D
    return {"wqkv": d.normal(E, N, size=1.3 / np.sqrt(E)), "bqkv": d.normal(N, size=0.7)}


@config()
def fused_blocks(d):
    return {"x": d.normal(2, 4, 7), **fused(d, 7, 3, 2, 2)}, {"heads": 2}


@config()
def fused_per_head(d):
    return {"x": d.normal(1, 4, 7), **fused(d, 7, 2, 3, 3)}, {"heads": 3, "qkv-order": "per-head", "causal": True}


@config()
def fused_per_group(d):
    return ({"x": d.normal(1, 3, 6), **fused(d, 6, 3, 4, 2)},
            {"heads": 4, "kv-heads": 2, "qkv-order": "per-group"})


# Large numbers.

@config(only=("softmax-unstable", "overflow-f16"))
def large(d):
    return {"q": d.normal(2, 4, 6, size=11), "k": d.normal(2, 5, 6, size=11), "v": d.normal(2, 5, 3)}, {}


@config(only=("softmax-unstable", "overflow-f16"), plain_f16=False)
def overflow(d):
    """Scores beyond 65504 here and there; scaled they fit."""
    given = {"x": d.normal(2, 4, 8, size=80), **d.projections(8, 16, 3, H=2, wo=True)}
    return given, {"heads": 2, "causal": True}


@config(only=("softmax-unstable", "overflow-f16"), plain_f16=False)
def overflow_even(d):
    """Scores about 65504 that differ by little: weights far from 0 and 1."""
    given = d.heads(1, 2, 4, 5, 16, 3, size=1)
    given["q"] = (64 + 0.5 * given["q"]).astype(np.float32)
    given["k"] = (64 + 0.03 * given["k"]).astype(np.float32)
    return given, {}


@config(only=("nan-behind-mask",), right_runs=False)
def nan_input(d):
    """Padding of v that was never written."""
    given = d.heads(2, 2, 3, 4, 5, 3)
    padding = np.array([[1, 1, 1, 0], [1, 1, 0, 0]], bool)
    given["v"][~np.broadcast_to(padding[:, None], (2, 2, 4))] = np.nan
    return {**given, "key_padding": padding}, {}


# Linear biases, sinks, normalised queries and keys: beside their own mistakes those that keep the number of heads.

KEEP_HEADS = ("softmax-axis", "softmax-twice", "scale-missing", "scale-twice", "causal-missing", "causal-strict",
              "causal-reversed", "qk-swapped", "heads-viewed", "rope-missing", "rope-offset", "rope-style", "rope-base",
              "alibi-slope", "sink-missing", "qk-norm-missing")

@config(only=KEEP_HEADS)
def alibi(d):
    """Three heads are no power of two."""
    return ({"x": d.normal(2, 5, 6), **d.projections(6, 4, 3, H=3, wo=True)},
            {"heads": 3, "weight-order": "in-out", "causal": True, "alibi": True})


@config(only=KEEP_HEADS)
def alibi_both_ways(d):
    """No causal rule: keys on both sides."""
    return d.heads(2, 4, 4, 6, 5, 3), {"alibi": True}


@config(only=KEEP_HEADS)
def sinks(d):
    return ({"x": d.normal(2, 4, 7), **d.projections(7, 5, 2, H=3, wo=True), "sinks": d.normal(3, size=1.5)},
            {"heads": 3, "causal": True})


@config(only=KEEP_HEADS)
def sinks_cache(d):
    given = d.heads(1, 4, 2, 3, 4, 3, G=2)
    return ({**given, "past_k": d.normal(1, 2, 4, 4), "past_v": d.normal(1, 2, 4, 3), "sinks": d.normal(4)},
            {"causal": True, "window": "3"})


@config(only=KEEP_HEADS)
def qk_norm(d):
    """As recent models have it: root mean square with gains, then the rotation."""
    return ({"x": d.normal(2, 5, 9), **d.projections(9, 4, 3, H=2, wo=True),
             "q_norm": 1 + d.normal(4, size=0.3), "k_norm": 1 + d.normal(4, size=0.3)},
            {"heads": 2, "causal": True, "qk-norm": "rms", "rope": 10000})


@config(only=KEEP_HEADS)
def qk_norm_length(d):
    """Unit vectors and a scale of their own."""
    return d.heads(2, 2, 3, 5, 6, 4, size=2.0), {"qk-norm": "l2", "temperature": 0.125}

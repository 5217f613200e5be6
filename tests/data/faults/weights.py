# weights.py: mistakes of weights and biases, and tensors in each other's roles.
import itertools

import numpy as np

from mistake import mistake

PROJECTIONS = ("q", "k", "v", "o")


def is_square(a, name):
    return name in a.given and a.given[name].shape[0] == a.given[name].shape[1]


def transposed(a, names):
    return a.but(given={n: a.given[n].T for n in names})


@mistake("weight-transposed")
def weight_transposed(a):
    square = [p for p in PROJECTIONS if is_square(a, "w" + p)]
    for p in square:
        yield p, transposed(a, ["w" + p])
    if square == list(PROJECTIONS):
        yield "all", transposed(a, ["w" + p for p in square])


@mistake("out-proj-transposed")
def out_proj_transposed(a):
    if is_square(a, "wo"):
        yield "", transposed(a, ["wo"])


@mistake("bias-missing")
def bias_missing(a):
    given = [p for p in PROJECTIONS if "b" + p in a.given]
    for p in given:
        yield p, a.but(given={"b" + p: None})
    if len(given) > 1:
        yield "all", a.but(given={"b" + p: None for p in given})
    if "bqkv" in a.given:
        yield "qkv", a.but(given={"bqkv": None})


@mistake("bias-swapped")
def bias_swapped(a):
    for one, other in itertools.combinations("qkv", 2):
        b1, b2 = "b" + one, "b" + other
        if {b1, b2} <= set(a.given) and a.given[b1].shape == a.given[b2].shape:
            yield one + other, a.but(given={b1: a.given[b2], b2: a.given[b1]})


def made_by(a, other, names):
    """q, k or v projected with the weight and bias of another."""
    given = {"w" + n: a.given["w" + other] for n in names}
    if "b" + other in a.given:
        given.update({"b" + n: a.given["b" + other] for n in names})
    return a.but(given=given)


@mistake("qkv-shared")
def qkv_shared(a):
    if "wq" not in a.given:
        return
    shape = {n: a.given["w" + n].shape for n in "qkv"}
    for name, other in ("vk", "qk", "kq"):
        if shape[name] == shape[other]:
            yield f"{name}-is-{other}", made_by(a, other, name)
    if shape["q"] == shape["k"] == shape["v"]:
        yield "all-are-q", made_by(a, "q", "kv")


@mistake("fused-qkv-order")
def fused_qkv_order(a):
    """Cut as another system lays the columns out. kvq and qvk are blocks in another order."""
    if "wqkv" not in a.given:
        return
    orders = ["blocks", "per-group"] + (["per-head", "kvq", "qvk"] if a.G == a.H else [])
    for order in orders:
        if order != a.settings.get("qkv-order", "blocks"):
            yield order, a.but(settings={"qkv-order": order})


@mistake("v-not-projected")
def v_not_projected(a):
    if "x" in a.given and a.source("v").shape[-1] == a.G * a.Dv:
        yield "", a.but(v=lambda st: a.split(a.source("v"), a.G))


@mistake("out-proj-missing")
def out_proj_missing(a):
    if "wo" in a.given:
        yield "", a.but(out=lambda st: st["concat"])


def other_stages(a, one, other):
    """Two projections in each other's place."""
    right = a.q_k_v()
    if right[one].shape == right[other].shape:
        yield "projections", a.but(**{one: lambda st: right[other], other: lambda st: right[one]})


@mistake("qk-swapped")
def qk_swapped(a):
    if a.L == a.S:
        yield "", a.but(scores=lambda st: np.swapaxes(a.scores(st), -1, -2))
        yield from other_stages(a, "q", "k")


@mistake("kv-swapped")
def kv_swapped(a):
    if a.D != a.Dv:
        return

    def scores(st):
        return st.get("q_rope", st["q"]) @ np.swapaxes(a.values(st), -1, -2)
    yield "", a.but(scores=scores, heads=lambda st: st["attn"] @ a.keys(st))
    yield from other_stages(a, "k", "v")


@mistake("not-transposed-k")
def not_transposed_k(a):
    if a.D == a.S:
        yield "", a.but(scores=lambda st: st.get("q_rope", st["q"]) @ a.keys(st))


@mistake("attn-transposed")
def attn_transposed(a):
    if a.L == a.S:
        yield "", a.but(heads=lambda st: np.swapaxes(st["attn"], -1, -2) @ a.values(st))


@mistake("out-is-attn")
def out_is_attn(a):
    yield "", a.but(out=lambda st: st["attn"])

# heads.py: mistakes in cutting heads, joining them, and in the order of axes.
import numpy as np

from mistake import mistake


def is_cut(a):
    """Whether heads are cut from (B,L,H*D)."""
    return a.H > 1 and not a.rank_four


def recut(a, cut):
    """q, k and v cut into heads in another way."""
    return a.but(**{n: lambda st, n=n: cut(a.flat(n), a.count(n)) for n in "qkv"})


@mistake("heads-not-split")
def heads_not_split(a):
    """One head of width H*D. Its scale is the configured one; `wide` scales by its own width."""
    if not is_cut(a) or a.G != a.H or a.P or "rope" in a.settings:
        return
    if "mask" in a.given and a.given["mask"].ndim > 2 and a.given["mask"].shape[-3] != 1:
        return
    options = {"heads": None} if has_scale(a) else {"heads": None, "temperature": float(np.sqrt(a.D))}
    yield "", one_head(a, options)
    if not has_scale(a):
        yield "wide", one_head(a, {"heads": None})


def has_scale(a):
    return "temperature" in a.settings


def one_head(a, options):
    """Shown as a run of one head is, but with every stage that the right run has."""
    single = a.but(settings=options)
    single.names = a.names
    return single


@mistake("heads-viewed")
def heads_viewed(a):
    """(B,L,H*D) reshaped to (B,H,L,D) without the exchange of axes."""
    if is_cut(a):
        yield "", recut(a, lambda flat, n: flat.reshape(flat.shape[0], n, flat.shape[1], -1))


@mistake("heads-merged-viewed")
def heads_merged_viewed(a):
    if "concat" in a.names():
        yield "", a.but(concat=lambda st: st["heads"].reshape(a.B, a.L, -1))


@mistake("heads-order")
def heads_order(a):
    """Channel c belongs to head c % H in place of c / D."""
    if is_cut(a):
        yield "", recut(a, lambda flat, n: np.moveaxis(flat.reshape(flat.shape[:2] + (-1, n)), -1, 1))


@mistake("heads-averaged")
def heads_averaged(a):
    """attn is handed over as the mean over heads, while out is made of the true weights."""
    if a.H == 1:
        return
    def heads(st):
        return a.heads({**st, "attn": a.attn(st)})
    yield "", a.but(attn=lambda st: a.attn(st).mean(1), heads=heads)
    yield "repeated", a.but(
        attn=lambda st: np.broadcast_to(a.attn(st).mean(1, keepdims=True), (a.B, a.H, a.L, a.S)), heads=heads)


@mistake("gqa-tiled")
def gqa_tiled(a):
    yield "", a.but(kv_head=lambda h: h % a.G)


def nothing_but_causal(a):
    return set(a.rules()) <= {"causal"} and "mask" not in a.given and not a.P and "rope" not in a.settings


@mistake("batch-first")
def batch_first(a):
    """(B,L,E) read as (L,B,E): the sequence is the batch."""
    if a.rank_four or not a.has_batch or a.L != a.S or not nothing_but_causal(a):
        return
    exchanged = {n: np.swapaxes(t, 0, 1) for n, t in a.given.items() if n in ("x", "context", "q", "k", "v")}

    def returned(st):
        """concat and out go back to (B,L,.)."""
        back = {n: np.swapaxes(st[n], 0, st[n].ndim - 2) for n in ("concat", "out") if n in st}
        return {**st, **back}
    yield "", a.but(given=exchanged, returned=returned)


@mistake("layout-blhd")
def layout_blhd(a):
    """q, k, v of rank 4 read in the other layout; out goes back as they came."""
    if a.rank_four and a.L == a.S and a.G == a.H and nothing_but_causal(a):
        other = "bhld" if a.settings.get("layout") == "blhd" else "blhd"
        yield "", a.but(settings={"layout": other})

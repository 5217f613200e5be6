# softmax_scale.py: mistakes of the softmax, of the scale and of the soft cap.
import numpy as np

from mistake import mistake


def entering(a, st):
    """What the softmax is taken of."""
    return st.get("masked", a.logits(st))


@mistake("softmax-axis")
def softmax_axis(a):
    # A slice that is hidden whole gives zeros on any axis, as it does on the right one.
    axes = {"query": -2, "head": 1 if a.H > 1 or a.rank_four else None, "batch": 0 if a.has_batch else None}
    for variant, axis in axes.items():
        if axis is not None:
            yield variant, a.but(attn=lambda st, axis=axis: a.softmax(entering(a, st), axis))


@mistake("softmax-whole")
def softmax_whole(a):
    """Over all scores of a head, or over the whole tensor."""
    yield "matrix", a.but(attn=lambda st: a.softmax(entering(a, st), (-2, -1)))
    yield "tensor", a.but(attn=lambda st: a.softmax(entering(a, st), (0, 1, 2, 3)))


@mistake("softmax-twice")
def softmax_twice(a):
    yield "", a.but(attn=lambda st: a.softmax(a.attn(st)))


@mistake("softmax-unstable")
def softmax_unstable(a):
    """float32, and no row maximum subtracted: it overflows above 88.7."""
    def attn(st):
        with np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore"):
            e = np.exp(entering(a, st).astype(np.float32))
            return e / e.sum(-1, keepdims=True)
    if not a.hidden().all(-1).any():
        yield "", a.but(attn=attn)


def by(a, factor):
    return a.but(scaled=lambda st: st["scores"] * factor)


@mistake("scale-missing")
def scale_missing(a):
    yield "", by(a, 1)


@mistake("scale-twice")
def scale_twice(a):
    yield "", by(a, a.factor() ** 2)


def has_default_scale(a):
    return "temperature" not in a.settings


@mistake("scale-inverted")
def scale_inverted(a):
    if has_default_scale(a):
        yield "", by(a, np.sqrt(a.D))


@mistake("scale-d-model")
def scale_d_model(a):
    if has_default_scale(a) and "x" in a.given:
        yield "", by(a, 1 / np.sqrt(a.given["x"].shape[-1]))


@mistake("scale-d-not-root")
def scale_d_not_root(a):
    if has_default_scale(a):
        yield "", by(a, 1 / a.D)


@mistake("scale-heads")
def scale_heads(a):
    if has_default_scale(a) and a.H > 1:
        yield "", by(a, 1 / np.sqrt(a.H))


@mistake("scale-after-softmax")
def scale_after_softmax(a):
    yield "", a.but(scaled=lambda st: st["scores"], attn=lambda st: a.attn(st) * a.factor())


@mistake("temperature")
def temperature(a):
    if not has_default_scale(a):
        yield "", by(a, 1 / np.sqrt(a.D))


@mistake("scale-other")
def scale_other(a):
    yield "", by(a, 0.3)


@mistake("softcap-missing")
def softcap_missing(a):
    if "softcap" in a.settings:
        yield "", a.but(capped=lambda st: st["scaled"])


@mistake("softcap-after-mask")
def softcap_after_mask(a):
    """The cap lifts what is hidden from -inf to -C, so it gets weight."""
    if "softcap" not in a.settings or "masked" not in a.names():
        return

    def hidden_first(st):
        return a.masked({"scaled": st["scaled"]})

    def capped(st):
        return a.cap(hidden_first(st))
    yield "", a.but(capped=capped, masked=lambda st: st["capped"])
    # The same where the two stages were stored in the order in which they were made.
    yield "order", a.but(capped=capped, masked=hidden_first, attn=lambda st: a.softmax(st["capped"]))


@mistake("sink-missing")
def sink_missing(a):
    """The sinks are left out, or are zeros."""
    if "sinks" in a.given:
        yield "", a.but(sinks=lambda: None)
        yield "zero", a.but(sinks=lambda: np.zeros(a.H, a.arithmetic.dtype))


@mistake("qk-norm-missing")
def qk_norm_missing(a):
    if "qk-norm" in a.settings:
        yield "", a.but(q_norm=lambda st: st["q"], k_norm=lambda st: st["k"])
        yield "k", a.but(k_norm=lambda st: st["k"])
        yield "q", a.but(q_norm=lambda st: st["q"])

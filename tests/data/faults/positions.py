# positions.py: mistakes of the rotary embedding, and of linear biases.
import numpy as np

from mistake import mistake


def rotating(a, q=None, k=None, **options):
    """q and k rotated with other options, or at other positions."""
    at = {"q": a.positions("q") if q is None else q, "k": a.positions("k") if k is None else k}
    return a.but(q_rope=lambda st: a.rotated(a.unrotated("q", st), at["q"], **options),
                 k_rope=lambda st: a.rotated(a.unrotated("k", st), at["k"], **options))


def rope_mistake(fault):
    """As mistake(), for configurations with a rotary embedding only."""
    def add(function):
        mistake(fault)(lambda a: function(a) if "rope" in a.settings else ())
        return function
    return add


@rope_mistake("rope-missing")
def rope_missing(a):
    yield "", a.but(q_rope=lambda st: a.unrotated("q", st), k_rope=lambda st: a.unrotated("k", st))
    yield "k", a.but(k_rope=lambda st: a.unrotated("k", st))


@rope_mistake("rope-style")
def rope_style(a):
    right = a.settings.get("rope-style", "half")
    yield "", rotating(a, style={"half": "interleaved", "interleaved": "half"}[right])


@rope_mistake("rope-offset")
def rope_offset(a):
    """One later, which cancels in the scores unless there is a cache; or the cache forgotten."""
    q, k = a.positions("q"), a.positions("k")
    yield "later", rotating(a, q=q + 1, k=k + 1)
    yield "q", rotating(a, q=q - a.P if a.P else q + 1)
    if a.P:
        yield "no-cache", rotating(a, q=q - a.P, k=k - a.P)


@rope_mistake("rope-axis")
def rope_axis(a):
    """The index of the head is taken for the position."""
    yield "", rotating(a, q=np.arange(a.H)[:, None], k=np.arange(a.G)[:, None])


@rope_mistake("rope-partial")
def rope_partial(a):
    """The whole head is rotated; or exponents, or pairs too, follow from the width of the head."""
    if a.settings.get("rope-dim", a.D) == a.D:
        return
    yield "whole", rotating(a, dim=a.D)
    yield "frequencies", rotating(a, over=a.D)
    if a.settings.get("rope-style", "half") == "half":
        yield "pairs", rotating(a, over=a.D, apart=a.D // 2)


@rope_mistake("rope-base")
def rope_base(a):
    yield "", rotating(a, base=500000 if a.settings["rope"] == 10000 else 10000)


@rope_mistake("rope-on-v")
def rope_on_v(a):
    """Of the width of q and k. The stored v is the one before, or the one after the rotation."""
    if a.Dv == a.D:
        def rotated(v):
            return a.rotated(v, a.positions("k"))
        yield "", a.but(heads=lambda st: a.heads({**st, "v": rotated(st["v"])}))
        yield "stored", a.but(v=lambda st: rotated(a.v(st)))


@rope_mistake("rope-twice")
def rope_twice(a):
    yield "", a.but(q_rope=lambda st: a.rotated(a.q_rope(st), a.positions("q")),
                    k_rope=lambda st: a.rotated(a.k_rope(st), a.positions("k")))


@mistake("alibi-slope")
def alibi_slope(a):
    """The exponent counts heads from 0; one formula for every number of heads; no biases; added before the scale."""
    if "alibi" not in a.settings:
        return
    distance, heads = np.abs(a.distance()).astype(float), np.arange(a.H)

    def with_slopes(slopes):
        return a.but(linear_bias=lambda: -np.asarray(slopes, float)[:, None, None] * distance)
    yield "from-0", with_slopes(2.0 ** (-8 * heads / 2 ** int(np.log2(a.H))))
    if a.H & (a.H - 1):
        yield "one-formula", with_slopes(2.0 ** (-8 * (heads + 1) / a.H))
    yield "none", with_slopes(0.0 * heads)
    yield "sign", with_slopes(-a.slopes())
    yield "before-scale", with_slopes(a.slopes() * a.factor())

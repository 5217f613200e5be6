# masks.py: mistakes of masks, of key padding and of the causal rule.
import numpy as np

from mistake import mistake

GIVEN_RULES = ("mask", "padding")


def with_rules(a, **changed):
    """Other rules in place of those named; None takes a rule away."""
    def rules(right):
        new = {**right, **changed}
        shape = (a.B, a.H, a.L, a.S)
        return {n: np.broadcast_to(rule, shape) for n, rule in new.items() if rule is not None}
    return a.but(rules=rules)


def given_rules(a):
    return [n for n in GIVEN_RULES if n in a.rules()]


def has_float_mask(a):
    return "mask" in a.given and not a.has_bool_mask()


@mistake("mask-missing")
def mask_missing(a):
    """All that the mask and the padding hide is seen; the causal rule and the window stay."""
    if has_float_mask(a):
        yield "", a.but(bias=lambda right: np.zeros_like(right))
    elif given_rules(a):
        yield "", with_rules(a, mask=None, padding=None)


@mistake("mask-inverted")
def mask_inverted(a):
    for rule in given_rules(a):
        yield "", with_rules(a, **{rule: ~a.rules()[rule]})


def all_seen(a):
    """The logits of a run that hides nothing before the softmax."""
    return lambda st: a.logits(st)


def only_rules_hide(a):
    return a.rules() and not has_float_mask(a)


@mistake("mask-after-softmax")
def mask_after_softmax(a):
    """Weights of hidden keys are zeroed, and what is left does not sum to 1."""
    if only_rules_hide(a):
        yield "", a.but(masked=all_seen(a), attn=lambda st: a.softmax(st["masked"]) * ~a.hidden())


@mistake("mask-multiplied")
def mask_multiplied(a):
    if only_rules_hide(a):
        yield "", a.but(masked=lambda st: a.logits(st) * ~a.hidden(), attn=lambda st: a.softmax(st["masked"]))


@mistake("mask-bool-added")
def mask_bool_added(a):
    """True becomes 1.0 and is added: the raw mask, raw padding, or the lower triangle of the causal rule."""
    raw = {}
    if a.has_bool_mask():
        raw["mask"] = np.broadcast_to(a.given["mask"], (a.B, a.H, a.L, a.S))
    if "key_padding" in a.given:
        raw["padding"] = a.given["key_padding"].reshape(a.B, 1, 1, a.S)
    if "causal" in a.rules():
        raw["causal"] = ~a.rules()["causal"]
    for rule, added in raw.items():
        wrong = with_rules(a, **{rule: None})
        wrong = wrong.but(masked=lambda st, added=added, wrong=wrong: wrong.masked(st) + added)
        yield rule if len(raw) > 1 else "", wrong
    if len(raw) > 1:
        wrong = with_rules(a, **{rule: None for rule in raw})
        yield "all", wrong.but(masked=lambda st: wrong.masked(st) + ~a.hidden())


@mistake("mask-fill-small")
def mask_fill_small(a):
    """1e-9 for 1e9, or a number that real scores go below."""
    if only_rules_hide(a):
        for variant, fill in (("1e-9", -1e-9), ("5", -5.0)):
            yield variant, a.but(masked=lambda st, fill=fill: np.where(a.hidden(), fill, a.logits(st)),
                                 attn=lambda st: a.softmax(st["masked"]))


@mistake("mask-fill-overflow")
def mask_fill_overflow(a):
    """scores*b - 1e5*(1-b) in float16, where 1e5 is inf: NaN at every key that is kept."""
    def masked(st):
        b = (~a.hidden()).astype(np.float16)
        with np.errstate(over="ignore", invalid="ignore"):
            return (a.logits(st).astype(np.float16) * b - np.float16(1e5) * (1 - b)).astype(float)
    if only_rules_hide(a):
        yield "", a.but(masked=masked)


def moved(a, variant, move, mask=True, padding=True):
    """Runs whose mask or padding, as (B,H,L,S), has been put elsewhere."""
    if mask and has_float_mask(a):
        yield variant, a.but(bias=move)
    for rule in given_rules(a):
        if {"mask": mask, "padding": padding}[rule]:
            yield variant, with_rules(a, **{rule: move(a.rules()[rule])})


@mistake("mask-transposed")
def mask_transposed(a):
    if a.L == a.S:
        yield from moved(a, "", lambda full: np.swapaxes(full, -1, -2), padding=False)


def own_axis(a, name, axis):
    """Whether the mask has entries of its own along B (axis 0) or H (axis 1)."""
    if name == "padding":
        return axis == 0 and a.B > 1
    shape = (1,) * (4 - a.given["mask"].ndim) + a.given["mask"].shape
    return shape[axis] > 1


@mistake("mask-axis")
def mask_axis(a):
    """One row of the mask for each batch row, used as one for each head or query; or the other way round."""
    rules = [n for n in ("mask", "padding") if n in given_rules(a) or (n == "mask" and has_float_mask(a))]
    for rule in rules:
        picked = {"mask": rule == "mask", "padding": rule == "padding"}
        by_batch, by_head = own_axis(a, rule, 0), own_axis(a, rule, 1)
        if by_batch and not by_head and a.B == a.H:
            yield from moved(a, "head", lambda full: np.swapaxes(full, 0, 1), **picked)
        if by_head and not by_batch and a.B == a.H:
            yield from moved(a, "batch", lambda full: np.swapaxes(full, 0, 1), **picked)
        if rule == "padding" and a.B == a.L:
            yield "query", with_rules(a, padding=a.padded()[None, None])


@mistake("mask-head-order")
def mask_head_order(a):
    """(B*H,L,S) with the heads outside: entry n belongs to batch row n % B, and is used for n / H."""
    if a.B > 1 and a.H > 1:
        yield from moved(a, "", lambda full: np.swapaxes(full, 0, 1).reshape(full.shape))


@mistake("padding-on-queries")
def padding_on_queries(a):
    if "key_padding" in a.given and a.L == a.S:
        yield "", with_rules(a, padding=a.padded()[:, None, :, None])


def empty_rows(a):
    return a.hidden().all(-1, keepdims=True)


@mistake("empty-rows-uniform")
def empty_rows_uniform(a):
    if empty_rows(a).any():
        yield "", a.but(attn=lambda st: np.where(empty_rows(a), 1 / a.S, a.attn(st)))
        # By a finite fill that swallows the scores.
        yield "fill", a.but(masked=lambda st: np.where(a.hidden(), -1e9, a.logits(st)),
                            attn=lambda st: a.softmax(st["masked"]))


@mistake("empty-rows-nan")
def empty_rows_nan(a):
    if empty_rows(a).any():
        yield "", a.but(attn=lambda st: np.where(empty_rows(a), np.nan, a.attn(st)))


@mistake("empty-rows-unmasked")
def empty_rows_unmasked(a):
    """By -1e4 added to what is hidden, or by showing every key to a row that would see none."""
    if empty_rows(a).any():
        def attn(st):
            return a.softmax(st["masked"])
        yield "", a.but(masked=lambda st: a.logits(st) + a.hidden() * -1e4, attn=attn)
        yield "shown", a.but(
            masked=lambda st: np.where(a.hidden() & ~empty_rows(a), -np.inf, a.logits(st)), attn=attn)


@mistake("causal-missing")
def causal_missing(a):
    if "causal" in a.rules():
        yield "", with_rules(a, causal=None)


@mistake("causal-strict")
def causal_strict(a):
    if "causal" in a.rules():
        yield "", with_rules(a, causal=a.causal(a.offset() - 1))


@mistake("causal-one-ahead")
def causal_one_ahead(a):
    if "causal" in a.rules():
        yield "", with_rules(a, causal=a.causal(a.offset() + 1))


@mistake("causal-reversed")
def causal_reversed(a):
    if "causal" in a.rules():
        yield "", with_rules(a, causal=np.arange(a.S) < np.arange(a.L)[:, None] + a.offset())


@mistake("causal-align")
def causal_align(a):
    """The other alignment. With a cache both are one; the mistake is then to count queries from key 0."""
    if "causal" in a.rules() and a.L != a.S:
        other = 0 if a.P or a.settings.get("causal-align") == "end" else a.S - a.L
        yield "", with_rules(a, causal=a.causal(other))


@mistake("window-off-by-one")
def window_off_by_one(a):
    if "window" in a.rules():
        left, right = a.window_sides()
        yield "more", with_rules(a, window=a.window(left + 1, right))
        yield "less", with_rules(a, window=a.window(left - 1, right))

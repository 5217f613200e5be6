# attention.py: attention in NumPy, a method for each stage, so that a mistake is one method replaced.
import numpy as np

from fused import unfused

STAGES = ("q", "k", "v", "q_norm", "k_norm", "q_rope", "k_rope", "scores", "scaled", "capped", "masked", "attn", "heads", "concat", "out")


class Double:
    """Arithmetic in float64: every result is right to far beyond float32."""

    dtype = np.float64

    def product(self, a, b):
        return a @ b

    def keep(self, stage):
        """What is left of a stage when it has been stored."""
        return stage


class Attention:
    """One configuration: the tensors and options of a bundle, and the steps that a mistake replaces.

    Inside, q is (B,H,L,D), k (B,G,S-P,D), v (B,G,S-P,Dv), scores to attn (B,H,L,S), heads (B,H,L,Dv), concat and
    out (B,L,.). shown() drops the axes that the inputs did not have. A row that sees no key has weights of zero.
    """

    def __init__(self, given, settings, arithmetic=Double(), changed=None):
        self.given, self.settings, self.arithmetic, self.changed = given, settings, arithmetic, changed or {}
        first = given.get("x", given.get("q"))
        self.has_batch, self.rank_four = first.ndim > 2, "x" not in given and first.ndim == 4
        self.H = settings.get("heads", 1)
        if self.rank_four:
            self.H = first.shape[2 if settings.get("layout") == "blhd" else 1]
        self.G = settings.get("kv-heads", self.H)
        if self.rank_four:
            self.G = given["k"].shape[2 if settings.get("layout") == "blhd" else 1]
        q, k, v = (self.q_k_v()[n] for n in "qkv")
        (self.B, _, self.L, self.D), self.new, self.Dv = q.shape, k.shape[2], v.shape[3]
        self.P = given["past_k"].shape[2] if "past_k" in given else 0
        self.S = self.P + self.new

    def but(self, given=None, settings=None, arithmetic=None, **changed):
        """The same with other inputs, options or steps. A None takes an input or an option away."""
        def merged(old, new):
            return {n: value for n, value in {**old, **(new or {})}.items() if value is not None}
        return Attention(merged(self.given, given), merged(self.settings, settings), arithmetic or self.arithmetic,
                         {**self.changed, **changed})

    # Inputs.

    def number(self, name):
        """An input as the arithmetic holds it; None where it was not given."""
        array = self.given.get(name)
        return None if array is None else array.astype(self.arithmetic.dtype)

    def batched(self, name):
        array = self.number(name)
        return array if array.ndim > 2 else array[None]

    def weights(self):
        """{wq, wk, wv, wo, bq, bk, bv, bo}, weights (in,out), None where there is none."""
        found = {n: self.number(n) for n in ("wq", "wk", "wv", "wo", "bq", "bk", "bv", "bo")}
        if self.settings.get("weight-order") == "out-in":
            found.update({n: w.T for n, w in found.items() if n[0] == "w" and w is not None})
        if "wqkv" in self.given:
            order = self.settings.get("qkv-order", "blocks")
            found.update(zip(("wq", "wk", "wv"), unfused(self.number("wqkv"), order, self.H, self.G)))
            if "bqkv" in self.given:
                found.update(zip(("bq", "bk", "bv"), unfused(self.number("bqkv"), order, self.H, self.G)))
        return found

    def source(self, name):
        """What q, k or v is projected from, (B,N,E)."""
        return self.batched("context" if name != "q" and "context" in self.given else "x")

    def project(self, x, w, b):
        y = self.arithmetic.product(x, w)
        return y if b is None else y + b

    def flat(self, name):
        """q, k or v before it is cut into heads, (B,N,heads*width)."""
        if "x" not in self.given:
            return self.batched(name)
        weights = self.weights()
        return self.project(self.source(name), weights["w" + name], weights["b" + name])

    def count(self, name):
        return self.H if name == "q" else self.G

    def split(self, flat, heads):
        """(B,N,heads*d) -> (B,heads,N,d)"""
        return np.swapaxes(flat.reshape(flat.shape[:2] + (heads, -1)), 1, 2)

    def q_k_v(self):
        if self.rank_four:
            swap = self.settings.get("layout") == "blhd"
            return {n: np.swapaxes(self.number(n), 1, 2) if swap else self.number(n) for n in "qkv"}
        return {n: self.split(self.flat(n), self.count(n)) for n in "qkv"}

    def q(self, st):
        return self.q_k_v()["q"]

    def k(self, st):
        return self.q_k_v()["k"]

    def v(self, st):
        return self.q_k_v()["v"]

    # Normalised queries and keys.

    def normalised(self, x, gain):
        """Each head's channels by their root mean square, their spread or their length."""
        kind, D = self.settings["qk-norm"], x.shape[-1]
        eps = self.arithmetic.dtype(self.settings.get("norm-eps", 1e-12 if kind == "l2" else 1e-6))
        if kind == "layer":
            x = x - x.mean(-1, keepdims=True)
        if kind == "l2":
            size = np.maximum(np.sqrt((x * x).sum(-1, keepdims=True)), eps)
        else:
            size = np.sqrt((x * x).mean(-1, keepdims=True) + eps)
        gain = self.number(gain) if gain in self.given else np.ones(D, self.arithmetic.dtype)
        return x / size * gain

    def q_norm(self, st):
        return self.normalised(st["q"], "q_norm")

    def k_norm(self, st):
        return self.normalised(st["k"], "k_norm")

    # Positions.

    def rotated(self, x, positions, base=None, style=None, dim=None, over=None, apart=None):
        """RoPE. positions broadcast to x without its last axis; `over` divides the exponents, `apart` is the
        distance of a pair of the half style: both follow from `dim` unless a mistake says otherwise."""
        kind = self.arithmetic.dtype
        base, dim = base or self.settings["rope"], dim or self.settings.get("rope-dim", x.shape[-1])
        style = style or self.settings.get("rope-style", "half")
        pair = np.arange(dim // 2)
        frequency = kind(base) ** (-2 * pair.astype(kind) / kind(over or dim))
        angle = np.asarray(positions, kind)[..., None] * frequency
        first, second = (pair, pair + (apart or dim // 2)) if style == "half" else (2 * pair, 2 * pair + 1)
        y, a, z = x.copy(), x[..., first], x[..., second]
        y[..., first] = np.cos(angle) * a - np.sin(angle) * z
        y[..., second] = np.sin(angle) * a + np.cos(angle) * z
        return y

    def positions(self, name):
        return self.P + np.arange(self.L if name == "q" else self.new)

    @staticmethod
    def unrotated(name, st):
        return st.get(name + "_norm", st[name])

    def ready(self, name, st):
        """What the scores are made from."""
        return st.get(name + "_rope", self.unrotated(name, st))

    def q_rope(self, st):
        return self.rotated(self.unrotated("q", st), self.positions("q"))

    def k_rope(self, st):
        return self.rotated(self.unrotated("k", st), self.positions("k"))

    # Scores.

    def kv_head(self, h):
        return h // (self.H // self.G)

    def keys(self, st):
        """(B,H,S,D): those of the cache first, one for each query head."""
        return self.for_each_query_head(self.with_past(self.ready("k", st), "past_k"))

    def values(self, st):
        return self.for_each_query_head(self.with_past(st["v"], "past_v"))

    def with_past(self, x, past):
        return np.concatenate([self.number(past), x], axis=2) if self.P else x

    def for_each_query_head(self, x):
        kv_head = self.changed.get("kv_head", self.kv_head)
        return x[:, [kv_head(h) for h in range(self.H)]]

    def scores(self, st):
        return self.arithmetic.product(self.ready("q", st), np.swapaxes(self.keys(st), -1, -2))

    def factor(self):
        return 1 / self.settings.get("temperature", np.sqrt(self.D))

    def scaled(self, st):
        return st["scores"] * self.arithmetic.dtype(self.factor())

    def cap(self, x):
        return self.settings["softcap"] * np.tanh(x / self.settings["softcap"])

    def capped(self, st):
        return self.cap(st["scaled"])

    # Who sees whom: True is hidden.

    def causal(self, offset):
        return np.arange(self.S) > np.arange(self.L)[:, None] + offset

    def offset(self):
        return self.S - self.L if self.settings.get("causal-align") == "end" else self.P

    def window(self, left, right):
        own, j = np.arange(self.L)[:, None] + self.offset(), np.arange(self.S)
        return ((j < own - left) & (left >= 0)) | ((j > own + right) & (right >= 0))

    def window_sides(self):
        sides = [int(n) for n in self.settings["window"].split(",")]
        return sides if len(sides) == 2 else (sides[0], -1)

    def hides(self, name, polarity):
        return (self.given[name] != 0) != (self.settings.get(polarity, "attend") == "attend")

    def padded(self):
        """(B,S)"""
        return self.hides("key_padding", "padding-true").reshape(self.B, self.S)

    def has_bool_mask(self):
        return "mask" in self.given and self.given["mask"].dtype.kind != "f"

    def rules(self):
        """{rule: what it hides}, each (B,H,L,S)."""
        found = {}
        if self.settings.get("causal"):
            found["causal"] = self.causal(self.offset())
        if "window" in self.settings:
            found["window"] = self.window(*self.window_sides())
        if "key_padding" in self.given:
            found["padding"] = self.padded()[:, None, None]
        if self.has_bool_mask():
            found["mask"] = self.hides("mask", "mask-true")
        return {n: np.broadcast_to(rule, (self.B, self.H, self.L, self.S)) for n, rule in found.items()}

    def hidden(self):
        rules = self.changed.get("rules", lambda right: right)(self.rules())
        return np.any([np.zeros((self.B, self.H, self.L, self.S), bool), *rules.values()], axis=0)

    def slopes(self):
        """ALiBi: the recipe of its paper, every second slope of twice as many heads beyond a power of two."""
        n = 2 ** int(np.log2(self.H))
        first = [2 ** (-8 * (h + 1) / n) for h in range(n)]
        more = [2 ** (-8 * (h + 1) / (2 * n)) for h in range(2 * n)][0::2]
        return np.array((first + more)[:self.H], self.arithmetic.dtype)

    def distance(self):
        """(L,S), how far key j lies before the query's own position."""
        return np.arange(self.L)[:, None] + self.offset() - np.arange(self.S)

    def linear_bias(self):
        return -self.slopes()[:, None, None] * np.abs(self.distance()).astype(self.arithmetic.dtype)

    def bias(self):
        """What is added to the scores, (B,H,L,S): a float mask, linear biases."""
        added = self.mask_bias()
        return added + self.changed.get("linear_bias", self.linear_bias)() if "alibi" in self.settings else added

    def mask_bias(self):
        """What a float mask adds, (B,H,L,S)."""
        if "mask" not in self.given or self.has_bool_mask():
            return np.zeros((1, 1, 1, 1), self.arithmetic.dtype)
        bias = np.broadcast_to(self.number("mask"), (self.B, self.H, self.L, self.S))
        return self.changed.get("bias", lambda right: right)(bias)

    def fill(self):
        return float(self.settings.get("fill", "-inf"))

    def logits(self, st):
        """What the mask meets."""
        return st.get("capped", st["scaled"])

    def masked(self, st):
        return np.where(self.hidden(), self.arithmetic.dtype(self.fill()), self.logits(st) + self.bias())

    # Weights and values.

    def softmax(self, x, axis=-1):
        """A slice that is all -inf gives zeros; NaN and +inf give NaN."""
        with np.errstate(invalid="ignore"):
            greatest = np.max(x, axis=axis, keepdims=True)
            e = np.exp(x - np.where(greatest == -np.inf, 0, greatest))
            total = np.sum(e, axis=axis, keepdims=True)
            return np.where(total == 0, 0, e / np.where(total == 0, 1, total))

    def sinks(self):
        return self.number("sinks") if "sinks" in self.given else None

    def attn(self, st):
        x, sinks = st.get("masked", self.logits(st)), self.changed.get("sinks", self.sinks)()
        if sinks is None:
            weights = self.softmax(x)
        else:
            column = np.broadcast_to(sinks[:, None, None], x.shape[:-1] + (1,))
            weights = self.softmax(np.concatenate([x, column], -1))[..., :-1]
        return np.where(self.hidden().all(-1, keepdims=True), 0, weights)

    def heads(self, st):
        return self.arithmetic.product(st["attn"], self.values(st))

    def merged(self, heads):
        """(B,H,L,Dv) -> (B,L,H*Dv)"""
        return np.swapaxes(heads, 1, 2).reshape(heads.shape[0], heads.shape[2], -1)

    def concat(self, st):
        return self.merged(st["heads"])

    def out(self, st):
        """Of the shape that the stages before have: heads as they are where nothing joins them."""
        heads = st["heads"] if "heads" in st else self.step("heads", st)
        if "wo" in self.given:
            weights = self.weights()
            return self.project(st["concat"], weights["wo"], weights["bo"])
        if self.rank_four:
            return np.swapaxes(heads, 1, 2) if self.settings.get("layout") == "blhd" else heads
        return st["concat"] if "concat" in st else heads

    # The whole.

    def names(self):
        """The stages of this configuration, in order."""
        given, settings = self.given, self.settings
        absent = set()
        if "qk-norm" not in settings:
            absent |= {"q_norm", "k_norm"}
        if "rope" not in settings:
            absent |= {"q_rope", "k_rope"}
        if "softcap" not in settings:
            absent |= {"capped"}
        if not ({"causal", "window", "alibi"} & set(settings) or {"mask", "key_padding"} & set(given)):
            absent |= {"masked"}
        if self.H == 1 and "wo" not in given and not self.rank_four:
            absent |= {"heads", "concat"}
        if self.rank_four and "wo" not in given:
            absent |= {"concat"}
        return [n for n in STAGES if n not in absent]

    def step(self, stage, st):
        """A stage from the stages before it, as this run makes it."""
        with np.errstate(invalid="ignore", over="ignore"):
            return self.changed.get(stage, getattr(self, stage))(st)

    def stages(self):
        st = {}
        for stage in self.names():
            st[stage] = self.arithmetic.keep(self.step(stage, st))
        return self.changed.get("returned", lambda st: st)(st)

    def shown(self, array):
        """Without the axes that the inputs did not have: H where there is one head, B where there was no batch."""
        if array.ndim == 4 and self.H == 1 and not self.rank_four:
            array = array[:, 0]
        return array if self.has_batch else array[0]

# draw.py: random configurations of attention, and the recipes from which both sides make their inputs.
import math

import numpy as np
import torch

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
TENSORS = ["x", "context", "q", "k", "v", "wq", "wk", "wv", "wo", "wqkv", "bq", "bk", "bv", "bo", "bqkv",
           "mask", "key_padding", "lengths", "past_k", "past_v", "position"]


def hashed(tag, n):
    """32 bits for element n of tensor `tag`, the same here and in golden.cpp."""
    bits = (np.asarray(n, dtype=np.uint64) * 2654435761 + tag * 2246822519) & 0xFFFFFFFF
    for factor in (3266489917, 668265263):
        bits = ((bits ^ (bits >> np.uint64(15))) * factor) & 0xFFFFFFFF
    return bits ^ (bits >> np.uint64(16))


def hashed_values(tag, n):
    """Multiples of 1/1024 in [-2,2): exact in float16."""
    return ((hashed(tag, n) >> np.uint64(20)).astype(np.int64) - 2048) / 1024.0


def made(recipe):
    """The tensor of a recipe: float64 for float types, else int64."""
    if "data" in recipe:
        return torch.tensor(recipe["data"]).reshape(recipe["shape"])
    n = np.arange(math.prod(recipe["shape"]))
    if recipe["dtype"].startswith("float"):
        values = hashed_values(recipe["tag"], n) / recipe.get("divide", 1)
        values[(hashed(recipe["tag"], n) & 255) < recipe.get("hide", 0)] = -math.inf
    else:
        values = ((hashed(recipe["tag"], n) & 255) < recipe["keep"]).astype(np.int64)
    return torch.from_numpy(values).reshape(recipe["shape"])


class Draw:
    """One configuration: settings (only those that differ from the default) and a recipe for each input."""

    def __init__(self, number, rng, mode):
        self.number, self.rng, self.mode = number, rng, mode
        self.settings, self.inputs, self.stored_out_in, self.words = {}, {}, False, [mode]
        self.draw_sizes()
        draw_inputs = {"x": self.draw_projected, "context": self.draw_projected, "fused": self.draw_fused,
                       "mha": self.draw_mha}
        draw_inputs.get(mode, self.draw_given)()
        if self.P:
            rank = (self.B,) if self.batched or self.chance(0.5) else ()
            self.add("past_k", rank + (self.G, self.P, self.D))
            self.add("past_v", rank + (self.G, self.P, self.Dv))
            self.words.append("past")
        self.draw_rules()
        self.draw_scores()

    def chance(self, probability):
        return self.rng.random() < probability

    def tag(self, name):
        return self.number * 64 + TENSORS.index(name)

    def add(self, name, shape, divide=1, **recipe):
        dtype = recipe.pop("dtype", self.rng.choice(["float32", "float32", "float64", "float16"]))
        recipe = {"shape": list(shape), "dtype": dtype, "tag": self.tag(name), **recipe}
        if divide != 1:
            recipe["divide"] = divide
        if len(shape) > 1 and self.chance(0.1):
            recipe["order"] = "F"
        self.inputs[name] = recipe

    def draw_sizes(self):
        rng, small, edges = self.rng, [1, 2, 3, 4, 5, 6, 7, 9], [1, 15, 16, 64, 65, 129]
        length = lambda: rng.choice(edges if self.chance(0.3) else small)
        while True:
            self.B, self.G, ratio = rng.choice([1, 2, 3]), rng.choice([1, 1, 2, 3]), rng.choice([1, 1, 2, 3])
            self.batched = self.mode not in ("q2",) and self.chance(0.8)
            self.B = self.B if self.batched else 1
            if self.mode in ("fused", "mha") and self.chance(0.7):
                ratio = 1
            self.H = self.G * ratio
            self.L = length()
            self.S_new = self.L if self.mode in ("x", "fused") or self.chance(0.3) else length()
            self.P = rng.choice([1, 2, 5, 15, 64]) if self.chance(0.3) and self.mode != "mha" else 0
            self.S = self.S_new + self.P
            width = lambda: rng.choice([1, 15, 16, 64, 65] if self.chance(0.25) else [2, 3, 4, 5, 6, 8])
            self.D, self.Dv = width(), width()
            self.E, self.E_context, self.E_out = rng.choices([1, 3, 8, 10, 12, 15, 16, 24, 65], k=3)
            scores = self.B * self.H * self.L * self.S
            widths = (self.E + self.E_out) * self.H * max(self.D, self.Dv)
            projections = self.B * (self.L + self.S_new) * widths
            if scores <= 40_000 and scores * (self.D + self.Dv) <= 700_000 and projections <= 700_000:
                return

    def draw_heads(self):
        if self.H > 1 or self.chance(0.3):
            self.settings["heads"] = self.H
        if self.G != self.H or self.chance(0.2):
            self.settings["kv_heads"] = self.G
        self.words.append(f"H{self.H}G{self.G}")

    def weight(self, name, n_in, n_out):
        shape = (n_out, n_in) if self.stored_out_in else (n_in, n_out)
        self.add(name, shape, divide=2 ** max(0, round(math.log2(1.15 * math.sqrt(n_in)))))

    def bias(self, name, n_out, probability):
        if self.chance(probability):
            self.add(name, (n_out,), divide=2)
            self.words.append(name)

    def draw_sources(self):
        rank = (self.B,) if self.batched else ()
        self.add("x", rank + (self.L, self.E))
        if self.mode == "context" or (self.mode == "mha" and self.S_new != self.L):
            self.add("context", rank + (self.S_new, self.E_context))
        else:
            self.E_context = self.E

    def draw_output(self, probability):
        if self.chance(probability):
            self.weight("wo", self.H * self.Dv, self.E_out)
            self.bias("bo", self.E_out, 0.5)
            self.words.append("wo")

    def state_order(self):
        """auto can only be left where the shapes tell: out-in with no square weight."""
        square = any(len(set(r["shape"])) == 1 for n, r in self.inputs.items() if n[0] == "w")
        if self.stored_out_in and square or self.chance(0.3):
            self.settings["weight_order"] = "out_in" if self.stored_out_in else "in_out"
        self.words.append("out-in" if self.stored_out_in else "in-out")

    def draw_projected(self):
        self.stored_out_in = self.chance(0.5)
        self.draw_heads()
        self.draw_sources()
        all_biased = self.rng.choice([0, 0.5, 1])
        widths = {"q": (self.E, self.H * self.D), "k": (self.E_context, self.G * self.D),
                  "v": (self.E_context, self.G * self.Dv)}
        for name, (n_in, n_out) in widths.items():
            self.weight("w" + name, n_in, n_out)
            self.bias("b" + name, n_out, all_biased)
        self.draw_output(0.6)
        self.state_order()

    def draw_fused(self):
        self.stored_out_in, self.Dv = self.chance(0.5), self.D
        self.draw_heads()
        self.draw_sources()
        order = self.rng.choice(["blocks", "per_group"] + (["per_head"] if self.H == self.G else []))
        if order != "blocks":
            self.settings["qkv_order"] = order
        self.words.append(order)
        columns = (self.H + 2 * self.G) * self.D
        self.weight("wqkv", self.E, columns)
        self.bias("bqkv", columns, 0.6)
        self.draw_output(0.6)
        self.state_order()

    def draw_mha(self):
        """What torch.nn.MultiheadAttention can do: out-in, E = H*D, biases all or none."""
        self.G, self.Dv, self.stored_out_in = self.H, self.D, True
        self.E = self.E_out = self.H * self.D
        self.draw_heads()
        self.draw_sources()
        biased = self.rng.choice([0, 1])
        for name, n_in in (("q", self.E), ("k", self.E_context), ("v", self.E_context), ("o", self.E)):
            self.weight("w" + name, n_in, self.E)
            self.bias("b" + name, self.E, biased)
        self.state_order()

    def draw_given(self):
        B, H, G = self.B, self.H, self.G
        by_head = [(self.L, H, self.D), (self.S_new, G, self.D), (self.S_new, G, self.Dv)]
        if self.mode == "q4":
            self.batched = True
            blhd = self.chance(0.5)
            if blhd:
                self.settings["layout"] = "blhd"
                self.words.append("blhd")
            if self.chance(0.5):
                self.settings["heads"], self.settings["kv_heads"] = H, G
            self.words.append(f"H{H}G{G}")
            shapes = [(B, n, h, d) if blhd else (B, h, n, d) for n, h, d in by_head]
        else:
            self.batched = self.mode == "q3"
            self.draw_heads()
            shapes = [((B,) if self.batched else ()) + (n, h * d) for n, h, d in by_head]
        for name, shape in zip("qkv", shapes):
            self.add(name, shape)
        self.stored_out_in = self.chance(0.5)
        self.draw_output(0.3)
        if "wo" in self.inputs:
            self.state_order()

    def draw_mask(self):
        B, H, L, S = self.B, self.H, self.L, self.S
        few = self.rng.choice(["", "", "", "1", "short"])
        columns = 1 if few == "1" else S
        if few == "short" and S > 2 and self.mode != "mha":
            columns, self.settings["short_mask_hides"] = self.rng.randint(2, S - 1), True
        rank = self.rng.choice([1, 2, 2, 3, 4, 4])
        shape = tuple(self.rng.choice([n, n, 1]) for n in (B, H, L)[4 - rank:]) + (columns,)
        kind = self.rng.choice(["bool", "integer", "float", "float"])
        if kind == "float":
            self.add("mask", shape, divide=self.rng.choice([1, 1, 4]), hide=self.rng.choice([0, 40, 90, 200]))
        else:
            dtype = "bool" if kind == "bool" else self.rng.choice(INTEGERS)
            self.add("mask", shape, keep=self.rng.choice([60, 160, 230]), dtype=dtype)
            self.either("mask_true", "hide", 0.4)
        self.words.append(f"mask-{kind}-{rank}d")

    def either(self, setting, value, probability):
        if self.chance(probability):
            self.settings[setting] = value
            self.words.append(f"{setting}-{value}".replace("_", "-"))

    def draw_rules(self):
        rng, B, L, S = self.rng, self.B, self.L, self.S
        self.either("causal", True, 0.4)
        if self.chance(0.25):
            self.settings["window"] = [rng.choice([-1, 0, 1, 2, 7, 20]), rng.choice([-1, -1, 0, 1, 3])]
            self.words.append("window")
            self.either("window_shifts", False, 0.2)
        if self.chance(0.5):
            self.draw_mask()
        if self.chance(0.25):
            shape = (B, S) if self.chance(0.5) else (B, 1, S)
            self.add("key_padding", shape, keep=rng.choice([20, 120, 200]), dtype=rng.choice(["bool"] + INTEGERS))
            self.either("padding_true", "hide", 0.4)
            self.words.append("padding")
        if self.chance(0.2):
            lengths = [min(127, rng.randint(0, S)) for _ in range(B)]  # 127: the most that int8 holds
            self.inputs["lengths"] = {"shape": [B], "dtype": rng.choice(INTEGERS), "data": lengths}
            self.words.append("lengths")
        if self.settings.get("causal") or "window" in self.settings:
            self.either("causal_align", "end", 0.5)
        # A short float mask lacks numbers, and only -inf says the same as "hidden" whatever the fill.
        if not self.settings.get("short_mask_hides"):
            self.either("fill", rng.choice([-1e9, "min", -1e4, -4.0]), 0.5)
        self.either("empty_rows", rng.choice(["nan", "uniform"]), 0.6)

    def draw_scores(self):
        rng = self.rng
        if self.mode == "mha":
            return
        how = rng.choice(["default", "default", "scale", "none", "temperature"])
        if how in ("scale", "none"):
            self.either("scale", 1.0 if how == "none" else rng.choice([0.125, 0.37, 2.0]), 1)
        elif how == "temperature":
            self.either("temperature", rng.choice([0.6, 1.7, 8.0]), 1)
        self.either("softcap", rng.choice([0.5, 2.0, 30.0]), 0.25)
        if self.D >= 2 and self.chance(0.35):
            self.draw_rope()

    def draw_rope(self):
        rng = self.rng
        self.either("rope_base", rng.choice([10000.0, 10000.0, 500000.0, 100.0]), 1)
        self.either("rope_style", "interleaved", 0.5)
        if self.D % 2 or self.chance(0.4):
            self.either("rope_dim", 2 * rng.randint(1, self.D // 2), 1)
        where = rng.choice(["default", "default", "first", "array", "array"])
        if where == "first":
            self.either("first_position", rng.choice([0, 5, 100]), 1)
        elif where == "array":
            shape = (self.B, self.L) if self.chance(0.5) else (self.L,)
            positions = [rng.randint(0, 120) for _ in range(math.prod(shape))]
            self.inputs["position"] = {"shape": list(shape), "dtype": rng.choice(INTEGERS), "data": positions}
            self.words.append(f"positions-{len(shape)}d")

    def given(self):
        """float64 tensors by name, weights (in, out)."""
        given = {name: made(recipe) for name, recipe in self.inputs.items()}
        return {n: t.T if n[0] == "w" and self.stored_out_in else t for n, t in given.items()}

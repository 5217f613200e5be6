#!/usr/bin/env python3
# make_grad.py: writes golden/grad.*, the gradients that torch.autograd finds in float64, in the form of make_golden.py.
#
# Each "stage" of a case is a gradient: of a stage, of an input or of a weight, in the user's shape. dout is ones in
# every fifth case, else hashed values of tag 64*case + 60. The bound beside each is 1e-5 of the greatest element, and
# eight times what rounding every intermediate result to float32 changes (for biases also an epsilon of each row that
# is summed); in units of float32's epsilon.
import collections
import pathlib
import random
import sys

import numpy as np
import torch
from torch.utils._python_dispatch import TorchDispatchMode

FOLDER = pathlib.Path(__file__).parent
sys.path[:0] = [str(FOLDER), str(FOLDER / "golden")]
sys.dont_write_bytecode = True
from draw import Draw, hashed_values, made  # noqa: E402
from make_golden import MODES, Golden, recipe  # noqa: E402
from reference import Num, attention, shown_shape, visibility  # noqa: E402

CASES, SAMPLED = 120, 12
EPS = float(np.finfo(np.float32).eps)
SUMMED = {"bq": "q", "bk": "k", "bv": "v", "bo": "out"}
GAINS = {"q_norm": "q_gain", "k_norm": "k_gain"}


class InFloat32(TorchDispatchMode):
    """Rounds what every operation makes, forward and backward, to float32."""

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        done = operation(*args, **(kwargs or {}))
        owned = {t.storage().data_ptr() for t in args if isinstance(t, torch.Tensor)}
        for tensor in done if isinstance(done, (tuple, list)) else (done,):
            made = isinstance(tensor, torch.Tensor) and tensor.dtype == torch.float64
            if made and tensor.storage().data_ptr() not in owned:  # a view is rounded already
                tensor.copy_(tensor.float())
        return done


class SmallDraw(Draw):
    """Sizes at which every element of every gradient stands for something; the options are those of the grid."""

    def draw_sizes(self):
        rng = self.rng
        self.B, self.G, ratio = rng.choice([1, 2, 3]), rng.choice([1, 1, 2, 3]), rng.choice([1, 1, 2, 3])
        self.batched = self.mode != "q2" and self.chance(0.8)
        self.B = self.B if self.batched else 1
        if self.mode in ("fused", "mha") and self.chance(0.7):
            ratio = 1
        self.H = self.G * ratio
        self.L = rng.choice([1, 2, 3, 4, 5, 7])
        self.S_new = self.L if self.mode in ("x", "fused") or self.chance(0.3) else rng.choice([1, 2, 3, 5, 6, 9])
        self.P = rng.choice([1, 2, 4]) if self.chance(0.3) and self.mode != "mha" else 0
        self.S = self.S_new + self.P
        self.D, self.Dv = rng.choice([1, 2, 3, 4, 6, 8]), rng.choice([1, 2, 3, 5, 7])
        self.E, self.E_context, self.E_out = rng.choices([1, 3, 5, 8, 10], k=3)

    def draw_extras(self):
        """What the grid leaves out: each now and then."""
        s, rng = self.settings, self.rng
        if self.mode == "mha":
            return
        self.either("alibi", True, 0.2)
        if self.chance(0.25):
            self.inputs["sinks"] = recipe((self.H,), 80000 + 10 * self.number)
            s.pop("empty_rows", None)
            self.words.append("sinks")
        if self.chance(0.3):
            s["qk_norm"] = rng.choice(["rms", "layer", "l2"]) if self.D > 1 else "rms"
            if self.chance(0.3):
                s["norm_eps"] = 1e-3
            for at, gain in enumerate(GAINS):
                if self.chance(0.6):
                    self.inputs[gain] = recipe((self.D,), 80001 + 10 * self.number + at)
            self.words.append("qk-norm-" + s["qk_norm"])
        if self.chance(0.15):
            s["dropout"], s["seed"] = rng.choice([0.1, 0.5]), rng.randint(0, 1000)
            self.words.append("dropout")


def is_leaf(tensor):
    return tensor.is_floating_point()


def gradients(draw, dout):
    """{name: gradient} of the loss sum(dout*out)."""
    leaves = {n: made(r) for n, r in draw.inputs.items()}
    leaves = {n: t.requires_grad_() if is_leaf(t) else t for n, t in leaves.items()}
    given = {n: t.T if n in ("wq", "wk", "wv", "wo", "wqkv") and draw.stored_out_in else t for n, t in leaves.items()}
    stages, _ = attention(given, draw.settings)
    values = {n: num.value for n, num in stages.items() if n not in ("x", "context", "concat")}
    for value in values.values():
        value.retain_grad() if not value.is_leaf else None
    stages["out"].value.backward(dout.reshape(stages["out"].value.shape))
    found = {n: torch.zeros_like(v) if v.grad is None else v.grad for n, v in values.items()}
    if "concat" in stages:  # heads, in another order
        found["concat"] = found["heads"].movedim(1, 2).flatten(2)[:, None]
    for name, leaf in leaves.items():
        if is_leaf(leaf):
            found[GAINS.get(name, name)] = torch.zeros_like(leaf) if leaf.grad is None else leaf.grad
    shapes = {n: shown_shape(n, f.shape, given, draw.settings) for n, f in found.items() if n in stages}
    shapes.update({GAINS.get(n, n): list(leaf.shape) for n, leaf in leaves.items() if is_leaf(leaf)})
    return found, shapes, (stages, given)


def four(tensor):
    return tensor.reshape((1,) * (4 - tensor.dim()) + tuple(tensor.shape)).detach()


def largest(tensor):
    return float(tensor.nan_to_num(0.0).abs().max()) if tensor.numel() else 0.0


def make_grad():
    torch.set_num_threads(1)
    rng, golden, seen = random.Random(20240305), Golden(SAMPLED), collections.Counter()
    for number in range(CASES):
        draw = SmallDraw(number, rng, MODES[number % len(MODES)])
        draw.draw_extras()
        with torch.no_grad():
            shape = attention(draw.given(), draw.settings)[0]["out"].value.shape
        n = np.arange(int(np.prod(shape)))
        dout = torch.ones(shape, dtype=torch.float64) if number % 5 == 0 else torch.from_numpy(
            hashed_values(64 * number + 60, n)).reshape(shape)
        found, shapes, (stages, given) = gradients(draw, dout)
        with InFloat32():
            rough, _, _ = gradients(draw, dout)
        case = {"name": f"{number:03d} " + " ".join(draw.words), "settings": draw.settings, "inputs": draw.inputs,
                "present": []}
        case["stages"] = []
        for at, (name, value) in enumerate(found.items()):
            bound = (1e-5 * largest(value) + 8 * largest(rough[name] - value)) / EPS
            if name in SUMMED:  # a bias sums rows that may cancel
                rows = found[SUMMED[name]]
                bound += largest(rows) * rows.numel() / rows.shape[-1]
            value = four(value.reshape(shapes[name]))
            num = Num(value, torch.full(value.shape, bound, dtype=torch.float64))
            case["stages"].append(golden.record(name, num, 64 * number + 2 * at, shapes[name]))
        golden.cases.append(case)
        seen.update(draw.settings.keys() | draw.inputs.keys() | found.keys() | {draw.mode})
        seen.update(f"{name} {value}" for name, value in draw.settings.items() if isinstance(value, (str, bool)))
        hidden, added = visibility(given, draw.settings, draw.B, draw.H, draw.L, draw.S, draw.P)
        if (hidden if added is None else hidden | added.isneginf()).all(-1).any():
            seen.update([f"empty row {draw.settings.get('empty_rows', 'zero')}"])
    rare = {n: count for n, count in seen.items() if count < 2}
    assert not rare, rare
    golden.write("grad")
    print(", ".join(f"{name}: {count}" for name, count in sorted(seen.items())))


if __name__ == "__main__":
    make_grad()

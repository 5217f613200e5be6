#!/usr/bin/env python3
# make_half.py: writes golden/half.* and golden/half_block.npz, the stages of an implementation in float16 and in bfloat16.
#
# Each stage is computed in float64 from the rounded stages before it, and rounded once: NumPy's own float16,
# bfloat16 by integers on the bits of float32. What float32 may err by inside a step (golden/reference.py) moves
# a value that lies close to where rounding turns to the neighbour: beside each value stand the least and the
# greatest that it may be.
#
# half_block.npz holds, in the same bits, the stages of the blocks of block/, CASE.TYPE.STAGE.
#
# half.json lists the cases as grid.json does; for each type, per stage, [name, shape in the pipeline, where its
# numbers start]. half.npy holds them as uint16, bits of the type: a row of values, of least and of greatest.
import collections
import json
import pathlib
import random
import sys

import numpy as np
import torch

FOLDER = pathlib.Path(__file__).parent / "golden"
sys.path.insert(0, str(FOLDER))
sys.path.insert(1, str(FOLDER.parent))
sys.dont_write_bytecode = True
import make_block  # noqa: E402
from draw import Draw  # noqa: E402
from reference import attention, exact  # noqa: E402

CASES, MOST = 44, 900  # elements of all stages together
MODES = ["x", "context", "fused", "q3", "q4", "x", "mha", "q2", "q4"]
ROUNDED = {"x", "context", "q", "k", "v", "wq", "wk", "wv", "wo", "wqkv", "bq", "bk", "bv", "bo", "bqkv",
           "past_k", "past_v", "sinks", "q_norm", "k_norm", "mask"}
EPSILON = 2.0 ** -23


def float16_bits(x):
    with np.errstate(over="ignore"):
        return x.astype(np.float16).view(np.uint16)


def float16_values(bits):
    return bits.view(np.float16).astype(np.float64)


def bfloat16_bits(x):
    """To nearest, ties to even. The way through float32 rounds to odd, so that nothing is rounded twice."""
    with np.errstate(over="ignore"):
        single = x.astype(np.float32)
    wide = single.astype(np.float64)
    bits = single.view(np.uint32).astype(np.uint64)
    inexact = np.isfinite(x) & (wide != x)
    towards_zero = bits - (inexact & (abs(wide) > abs(x)))
    odd = np.where(inexact, towards_zero | 1, bits)
    nearest = (odd + 0x7FFF + ((odd >> 16) & 1)) >> 16
    return np.where(np.isnan(x), 0x7FC0, nearest).astype(np.uint16)


def bfloat16_values(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64)


TYPES = {"float16": (float16_bits, float16_values, -65504.0),
         "bfloat16": (bfloat16_bits, bfloat16_values, float(bfloat16_values(np.array([0xFF7F], np.uint16))[0]))}


class Rounded:
    """What `change` of attention() makes of the stages, and the record of it."""

    def __init__(self, dtype):
        self.bits, self.values, self.lowest = TYPES[dtype]
        self.rows, self.numbers, self.before = [], [], None

    def nearest(self, tensor):
        return torch.from_numpy(self.values(self.bits(tensor.contiguous().numpy())))

    def given(self, given):
        return {n: self.nearest(t) if n in ROUNDED and t.is_floating_point() else t for n, t in given.items()}

    def settings(self, settings):
        fill = settings.get("fill", "-inf")
        if fill != "-inf":
            fill = self.lowest if fill == "min" else float(self.values(self.bits(np.array([fill])))[0])
        return {**settings, "fill": fill}

    def change(self, stage, num):
        value, error = num.value, num.error * EPSILON
        if stage == "masked":  # what is added was rounded before
            error = error + EPSILON * (value - self.before).abs()
        self.before = nearest = self.nearest(value)
        error = torch.where(value.isfinite(), error.nan_to_num(0.0), 0.0)
        rows = [self.bits(t.contiguous().numpy()).reshape(-1) for t in (value, value - error, value + error)]
        self.rows.append([stage, list(value.shape), rows])
        return exact(nearest)


def drawn():
    """Small configurations over all that Draw draws, with what only the extras have, and sizes that overflow."""
    rng, number = random.Random(20240305), 0
    while True:
        draw = Draw(number, rng, MODES[number % len(MODES)])
        s, inputs = draw.settings, draw.inputs
        for name in ("alibi", "sinks", "qk_norm", "dropout", "large"):
            if rng.random() > 0.25:
                continue
            draw.words.append(name)
            if name == "alibi":
                s["alibi"] = True
            elif name == "sinks":
                inputs["sinks"] = {"shape": [draw.H], "dtype": "float32", "tag": 70000 + 10 * number}
                s.pop("empty_rows", None)
            elif name == "qk_norm":
                s["qk_norm"] = rng.choice(["rms", "layer", "l2"]) if draw.D > 1 else "rms"
                for at, gain in enumerate(("q_norm", "k_norm")):
                    inputs[gain] = {"shape": [draw.D], "dtype": "float32", "tag": 70001 + 10 * number + at}
            elif name == "dropout":
                s["dropout"], s["seed"] = rng.choice([0.1, 0.5]), rng.randint(0, 99)
            elif draw.mode in ("q2", "q3", "q4"):  # scores up to 400 * 400 * D
                inputs["q"]["divide"] = inputs["k"]["divide"] = 1 / 200
        number += 1
        yield draw


def make_half():
    cases, columns, seen = [], [[], [], []], collections.Counter()
    start = 0
    for draw in drawn():
        if len(cases) == CASES:
            break
        given = draw.given()
        plain, _ = attention(given, {**draw.settings, "fill": "-inf"})
        if not 60 < sum(num.value.numel() for num in plain.values()) < MOST:
            continue
        case = {"name": f"{len(cases):02d} " + " ".join(draw.words), "settings": draw.settings,
                "inputs": draw.inputs}
        for dtype in TYPES:
            rounding = Rounded(dtype)
            attention(rounding.given(given), rounding.settings(draw.settings), rounding.change)
            case[dtype] = []
            for stage, shape, rows in rounding.rows:
                case[dtype].append([stage, shape, start])
                start += rows[0].size
                for column, row in zip(columns, rows):
                    column.append(row)
                values = rounding.values(rows[0])
                seen[f"{dtype} infinite {stage}"] += int(np.isposinf(values).any())
                seen[f"{dtype} nan"] += int(np.isnan(values).any())
                seen[f"{dtype} elements"] += values.size
                seen[f"{dtype} open"] += int((rows[1] != rows[2]).sum())
        cases.append(case)
        seen.update(draw.settings.keys() | draw.inputs.keys() | set(plain))
    wanted = {"q_norm", "q_rope", "capped", "masked", "dropped", "out", "alibi", "sinks", "past_k", "wqkv", "wo",
              "bq", "fill", "empty_rows", "window", "causal", "key_padding", "lengths", "mask", "context"}
    assert wanted <= seen.keys() and seen["float16 infinite scores"] > 1, seen
    for dtype in TYPES:
        assert seen[f"{dtype} open"] < 0.03 * seen[f"{dtype} elements"], seen  # many of them exact ties
    lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases)
    (FOLDER / "half.json").write_text(f'{{"cases":[\n{lines}\n]}}\n')
    np.save(FOLDER / "half.npy", np.array([np.concatenate(column) for column in columns]))
    print(", ".join(f"{name}: {count}" for name, count in sorted(seen.items())))


def make_half_block():
    """Blocks of one layer from the bundles that make_block.py writes."""
    arrays = {}
    for name, case in make_block.CASES.items():
        if case.get("layers", 1) > 1:
            continue
        files = {f.stem: np.load(f) for f in (FOLDER.parent / "block" / name).glob("*.npy")}
        for dtype in TYPES:
            bits, values, _ = TYPES[dtype]

            def change(stage, value):
                arrays[f"{name}.{dtype}.{stage}"] = bits(value.contiguous().numpy())
                return torch.from_numpy(values(arrays[f"{name}.{dtype}.{stage}"]))

            given = {n: values(bits(a)) for n, a in files.items()}
            if case.get("in_out"):
                given = {n: a.T if a.ndim == 2 else a for n, a in given.items()}
            make_block.stages_of(torch.from_numpy(given.pop("x")), case, given, change)
    make_block.write_npz(FOLDER / "half_block.npz", arrays)


if __name__ == "__main__":
    make_half()
    make_half_block()

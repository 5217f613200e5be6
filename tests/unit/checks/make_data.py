#!/usr/bin/env python3
"""Writes data/*.hpp: attention in NumPy float64, stage by stage, for the tests of the checks.

    python3 make_data.py
"""
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent / "data"


def softmax(x):
    with np.errstate(invalid="ignore"):
        e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def literal(name, array):
    array = np.asarray(array, dtype=np.float64)
    numbers = ["-infinity" if v == -np.inf else repr(float(v)) for v in array.ravel()]
    lines, line = [], "   "
    for number in numbers:
        if len(line) + len(number) + 2 > 100:
            lines.append(line)
            line = "   "
        line += " " + number + ","
    lines.append(line)
    shape = "x".join(str(n) for n in array.shape)
    values = "\n".join(lines).rstrip(",")
    return f"/// {shape}\ninline const std::vector<double> {name} = {{\n{values}}};\n\n"


def write(file, what, tensors):
    """One header with these tensors, by name."""
    text = "".join(literal(name, array) for name, array in tensors.items())
    limits = infinity = ""
    if "-infinity" in text:
        limits = "#include <limits>\n"
        infinity = "inline constexpr double infinity = std::numeric_limits<double>::infinity();\n\n"
    (FOLDER / file).write_text(
        f"// {what}, computed in NumPy float64 by make_data.py.\n#pragma once\n\n"
        f"// clang-format off\n{limits}#include <vector>\n\nnamespace qkv::test::data {{\n\n"
        f"{infinity}{text}}}  // namespace qkv::test::data\n// clang-format on\n")


def attention(prefix, q, k, v, hidden=None):
    """q (B,H,L,D), k (B,G,S,D), v (B,G,S,Dv), hidden (B,1,L,S): inputs, scores and weights."""
    repeat = q.shape[1] // k.shape[1]
    scores = q @ np.repeat(k, repeat, 1).transpose(0, 1, 3, 2)
    scaled = scores / np.sqrt(q.shape[-1])
    masked = scaled if hidden is None else np.where(hidden, -np.inf, scaled)
    attn = softmax(masked)
    logits = {"scores": scores, "scaled": scaled}
    if hidden is not None:
        logits["masked"] = masked
    weights = {"attn": attn, "heads": attn @ np.repeat(v, repeat, 1)}
    return [{prefix + name: array for name, array in part.items()}
            for part in ({"q": q, "k": k, "v": v}, logits, weights)]


def log_rank_cases(rng):
    """Weights that q and k of width 2 really make, printed to four digits."""
    cases = {}
    for n in range(4):
        q, k = rng.normal(size=(6, 2)), rng.normal(size=(6, 2))
        cases[f"printed_{n}"] = np.round(softmax(0.3 * q @ k.T), 4)
    return cases


FOLDER.mkdir(exist_ok=True)

# One head, L = 2, S = 3, D = 4, Dv = 2.
inputs, scores, weights = attention(
    "small_",
    np.array([[1, 0, 2, 0], [0, 1, 0, -1.0]])[None, None],
    np.array([[1, 1, 0, 0], [0, 2, 1, 0], [1, 0, 1, 1.0]])[None, None],
    np.array([[1, 0], [0, 1], [2, 2.0]])[None, None])
write("small.hpp", "Right tensors of one head", inputs | scores | weights)

# B = 2, H = 4, G = 2, L = 5, S = 7, D = 3, Dv = 6: causal, aligned at the end (offset 2), and keys
# from 6 on in batch row 1 are padding.
rng = np.random.default_rng(7)
b, _, i, j = np.ix_(range(2), range(1), range(5), range(7))
inputs, scores, weights = attention(
    "rich_",
    rng.normal(size=(2, 4, 5, 3)), rng.normal(size=(2, 2, 7, 3)),
    rng.normal(size=(2, 2, 7, 6)),
    (j > i + 2) | ((b == 1) & (j >= 6)))
write("rich_inputs.hpp", "q, k and v of grouped heads", inputs)
write("rich_scores.hpp", "Right scores of grouped heads, scaled and masked", scores)
write("rich_weights.hpp", "Right weights of grouped heads, and what they give", weights)

write("printed.hpp", "Right weights as a log prints them", log_rank_cases(rng))

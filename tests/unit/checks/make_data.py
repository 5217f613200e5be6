#!/usr/bin/env python3
"""Writes data.hpp: attention in NumPy float64, stage by stage, for the tests of the checks.

    python3 make_data.py > data.hpp
"""
import numpy as np


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
    print(f"/// {shape}\ninline const std::vector<double> {name} = {{")
    print("\n".join(lines).rstrip(",") + "};\n")


def attention(prefix, q, k, v, hidden=None):
    """q (B,H,L,D), k (B,G,S,D), v (B,G,S,Dv), hidden (B,1,L,S)"""
    repeat = q.shape[1] // k.shape[1]
    scores = q @ np.repeat(k, repeat, 1).transpose(0, 1, 3, 2)
    scaled = scores / np.sqrt(q.shape[-1])
    masked = scaled if hidden is None else np.where(hidden, -np.inf, scaled)
    attn = softmax(masked)
    for name, array in [("q", q), ("k", k), ("v", v), ("scores", scores), ("scaled", scaled)]:
        literal(prefix + name, array)
    if hidden is not None:
        literal(prefix + "masked", masked)
    literal(prefix + "attn", attn)
    literal(prefix + "heads", attn @ np.repeat(v, repeat, 1))


def log_rank_cases(rng):
    """Weights that q and k of width 2 really make, printed to four digits."""
    for n in range(4):
        q, k = rng.normal(size=(6, 2)), rng.normal(size=(6, 2))
        literal(f"printed_{n}", np.round(softmax(0.3 * q @ k.T), 4))


print("// Right tensors, computed in NumPy float64 by make_data.py.\n#pragma once\n\n// clang-format off")
print("#include <limits>\n#include <vector>\n\nnamespace qkv::test::data {\n")
print("inline constexpr double infinity = std::numeric_limits<double>::infinity();\n")

# One head, L = 2, S = 3, D = 4, Dv = 2.
attention("small_",
          np.array([[1, 0, 2, 0], [0, 1, 0, -1.0]])[None, None],
          np.array([[1, 1, 0, 0], [0, 2, 1, 0], [1, 0, 1, 1.0]])[None, None],
          np.array([[1, 0], [0, 1], [2, 2.0]])[None, None])

# B = 2, H = 4, G = 2, L = 5, S = 7, D = 3, Dv = 6: causal, aligned at the end (offset 2), and keys
# from 6 on in batch row 1 are padding.
rng = np.random.default_rng(7)
b, _, i, j = np.ix_(range(2), range(1), range(5), range(7))
attention("rich_",
          rng.normal(size=(2, 4, 5, 3)), rng.normal(size=(2, 2, 7, 3)),
          rng.normal(size=(2, 2, 7, 6)),
          (j > i + 2) | ((b == 1) & (j >= 6)))

log_rank_cases(rng)
print("}  // namespace qkv::test::data\n// clang-format on")

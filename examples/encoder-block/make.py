#!/usr/bin/env python3
# make.py: makes demo/, an encoder block of width 8 with 2 heads and random weights, and its input.
import json
import pathlib

import numpy as np

E, F = 8, 16
folder = pathlib.Path(__file__).parent / "demo"
folder.mkdir(exist_ok=True)
rng = np.random.default_rng(4)


def save(name, *shape, std, mean=0.0):
    np.save(folder / f"{name}.npy", (mean + std * rng.standard_normal(shape)).astype(np.float32))


save("x", 5, E, std=1)
for name in ("wq", "wk", "wv", "wo"):
    save(name, E, E, std=E**-0.5)
save("ff_w1", E, F, std=E**-0.5)
save("ff_b1", F, std=0.1)
save("ff_w2", F, E, std=F**-0.5)
save("ff_b2", E, std=0.1)
for name in ("norm1", "norm2"):
    save(f"{name}_w", E, std=0.1, mean=1)
    save(f"{name}_b", E, std=0.1)
(folder / "config.json").write_text(json.dumps({"heads": 2, "weight-order": "in-out"}) + "\n")

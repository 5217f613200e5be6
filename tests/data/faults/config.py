# config.py: what a configuration is, and how its inputs are drawn.
import dataclasses
import zlib

import numpy as np


@dataclasses.dataclass
class Config:
    name: str
    given: dict
    settings: dict
    only: tuple = ()  # the only mistakes made on it; all that apply where empty
    thorough: bool = False  # with every variant of each mistake
    plain_f16: bool = True  # whether a right run fits float16
    right_runs: bool = True  # whether right runs are stored too


class Draw:
    """Random inputs of one configuration: they depend on its name alone."""

    def __init__(self, name):
        self.rng = np.random.default_rng(zlib.crc32(name.encode()))

    def normal(self, *shape, size=1.0):
        return (size * self.rng.standard_normal(shape)).astype(np.float32)

    def flags(self, *shape, chance=0.6):
        return self.rng.random(shape) < chance

    def projections(self, E, D, Dv, H=1, G=None, context=None, bias=False, wo=False, out_in=False):
        """Weights that give q, k, v and out a spread near 1.3."""
        G, C, given = G or H, context or E, {}
        widths = {"q": (E, H * D), "k": (C, G * D), "v": (C, G * Dv), "o": (H * Dv, E)}
        for n, shape in widths.items():
            if n == "o" and not wo:
                continue
            w = self.normal(*shape, size=1.3 / np.sqrt(shape[0]))
            given["w" + n] = np.ascontiguousarray(w.T) if out_in else w
            if bias:
                given["b" + n] = self.normal(shape[1], size=0.7)
        return given

    def heads(self, B, H, L, S, D, Dv, G=None, size=1.2):
        """q, k, v of rank 4."""
        G = G or H
        return {"q": self.normal(B, H, L, D, size=size), "k": self.normal(B, G, S, D, size=size),
                "v": self.normal(B, G, S, Dv)}

    def mask(self, *shape):
        """Bool, each row sees a key and misses one."""
        mask = self.flags(*shape)
        rows = mask.reshape(-1, shape[-1])
        for row in rows:
            see, miss = self.rng.permutation(shape[-1])[:2]
            row[see], row[miss] = True, False
        return mask


CONFIGS = {}


def config(**options):
    def add(make):
        name = make.__name__.replace("_", "-")
        CONFIGS[name] = lambda: Config(name, *make(Draw(name)), **options)
        return make
    return add

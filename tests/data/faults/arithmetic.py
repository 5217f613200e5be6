# arithmetic.py: arithmetics, those that are right and those that are a fault, and numbers that should not be there.
import zlib

import numpy as np
import torch

from attention import Double
from mistake import mistake


class Single(Double):
    """float32, sums added up one by one from the last channel to the first."""

    dtype = np.float32

    def product(self, a, b):
        total = np.float32(0)
        for n in reversed(range(a.shape[-1])):
            total = total + a[..., :, n, None] * b[..., n, None, :]
        return total


class TorchSingle(Double):
    """float32, products by torch.matmul."""

    dtype = np.float32

    def product(self, a, b):
        a, b = (torch.from_numpy(np.ascontiguousarray(t)) for t in (a, b))
        return torch.matmul(a, b).numpy()


def as_half(x):
    """Rounded to float16, as float32."""
    with np.errstate(over="ignore"):
        return np.asarray(x, np.float32).astype(np.float16).astype(np.float32)


def as_bfloat16(x):
    """Rounded to bfloat16 (ties to even), as float32."""
    return torch.from_numpy(np.array(x, np.float32)).bfloat16().float().numpy()


class Half(Single):
    """Every stage rounded to float16, sums in float32."""

    def keep(self, stage):
        return as_half(stage)


class Bfloat16(Single):
    def keep(self, stage):
        return as_bfloat16(stage)


def rounded_inputs(a, rounded):
    """x, weights and biases rounded too."""
    return {n: rounded(t) for n, t in a.given.items() if t.dtype == np.float32 and n not in ("mask", "q", "k", "v")}


def precision(a, arithmetic, rounded):
    yield "", a.but(arithmetic=arithmetic)
    if "x" in a.given:
        yield "weights", a.but(arithmetic=arithmetic, given=rounded_inputs(a, rounded))


@mistake("precision-f16")
def precision_f16(a):
    if a.fill() == -np.inf:
        yield from precision(a, Half(), as_half)


@mistake("precision-bf16")
def precision_bf16(a):
    yield from precision(a, Bfloat16(), as_bfloat16)


@mistake("overflow-f16")
def overflow_f16(a):
    """q*k^T in float16, beyond 65504; `half` is float16 all through, and stored so."""
    if np.abs(a.stages()["scores"]).max() > np.finfo(np.float16).max:
        yield "scores", a.but(scores=lambda st: as_half(a.scores(st)))
        yield "half", a.but(arithmetic=Half(), stored="float16")


@mistake("nan-behind-mask")
def nan_behind_mask(a):
    """v is NaN where no query looks, and 0*NaN is NaN."""
    unseen = a.hidden().all((1, 2))[:, a.P:]  # (B,S-P)
    if not unseen.any():
        return
    if np.isnan(a.v({})).any():
        yield "input", a
        return
    yield "", a.but(v=lambda st: np.where(unseen[:, None, :, None], np.nan, a.v(st)))


@mistake("dropout-active")
def dropout_active(a):
    """What is kept grows by 1/(1-p); the dice depend on the shape alone."""
    for p in (0.1, 0.3):
        def attn(st, p=p):
            right = a.attn(st)
            dice = np.random.default_rng(zlib.crc32(repr((right.shape, p)).encode())).random(right.shape)
            return np.where(dice < p, 0, right / (1 - p))
        yield f"p{p:g}", a.but(attn=attn)

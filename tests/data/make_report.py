#!/usr/bin/python3
"""Golden data for printing, statistics and comparison: writes report/*.txt next to this file.

numpy_text.txt  what NumPy 1.24 prints
stats.txt       sums as exact fractions, rounded once
compare.txt     torch.isclose on float64, default tolerances of torch.testing, distances of bit patterns

Each case is a line of fields and then its elements in hex, little-endian in the order of memory. A pattern
shorter than the array is repeated until it is full.
"""
import decimal
import os
import struct
from fractions import Fraction

import numpy as np
import numpy.core.arrayprint as arrayprint
import torch

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "report")
rng = np.random.default_rng(20240607)
NUMPY_TYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
               "float16", "float32", "float64"]
FLOATS = ["float16", "bfloat16", "float32", "float64"]


# --- bfloat16, which NumPy lacks: its values as float32, its digits by exact fractions ------------------------

class Binary:
    """The numbers m * 2^e of a float type: `digits` bits of m, least exponent of the last bit `low`."""

    def __init__(self, digits, low):
        self.digits, self.low = digits, low

    def shortest(self, x):
        """Digits and the exponent of the first: fewest that lie nearer to x than to its neighbours."""
        x = abs(Fraction(x))
        if x == 0:
            return "0", 0
        e = self.low
        while x / Fraction(2) ** e >= 2 ** self.digits:
            e += 1
        m = x / Fraction(2) ** e
        assert m.denominator == 1
        half = Fraction(2) ** e / 2
        below = half / 2 if m == 2 ** (self.digits - 1) and e > self.low else half
        closed = m % 2 == 0
        exponent = 0
        while x >= Fraction(10) ** (exponent + 1):
            exponent += 1
        while x < Fraction(10) ** exponent:
            exponent -= 1
        for count in range(1, 60):
            unit = Fraction(10) ** (exponent + 1 - count)
            floor = x // unit
            fits = []
            for n in (floor, floor + 1):
                off = n * unit - x
                inside = -below < off < half or (closed and off in (-below, half))
                if inside:
                    fits.append((abs(off), n % 2, n))
            if fits:
                text = str(min(fits)[2])
                return text.rstrip("0") or "0", exponent + len(text) - count
        raise AssertionError


def rounded(x, places):
    """|x| * 10^places to the nearest integer, ties to even, as text."""
    return str(round(abs(Fraction(float(x))) * Fraction(10) ** places))


def make_positional(binary):
    def positional(x, precision, unique, fractional, trim, sign, pad_left=0, pad_right=0, min_digits=None):
        assert unique and fractional and trim == "." and not sign and not min_digits
        digits, exponent = binary.shortest(float(x))
        if min_digits == 0 and len(digits) <= exponent:  # all digits before the point are the exact ones
            digits = rounded(x, 0)
            exponent = len(digits) - 1
        places = max(0, len(digits) - 1 - exponent)
        if places > precision:
            places = precision
            digits = rounded(x, places)
        else:
            digits = digits + "0" * (exponent + 1 - len(digits) + places)
        digits = digits.rjust(places + 1, "0")
        whole, fraction = digits[:len(digits) - places], digits[len(digits) - places:].rstrip("0")
        minus = "-" if np.signbit(x) else ""
        return (minus + whole).rjust(pad_left) + "." + fraction.ljust(pad_right)
    return positional


def make_scientific(binary):
    def scientific(x, precision, unique, trim, sign, pad_left=0, exp_digits=2, min_digits=0):
        assert unique and not sign
        digits, exponent = binary.shortest(float(x))
        count = len(digits) - 1
        if count > precision or count < min_digits:
            count = precision if count > precision else min_digits
            if x == 0:
                digits = "0" * (count + 1)
            else:
                value = abs(Fraction(float(x)))
                exponent = 0
                while value >= Fraction(10) ** (exponent + 1):
                    exponent += 1
                while value < Fraction(10) ** exponent:
                    exponent -= 1
                digits = rounded(x, count - exponent)
                if len(digits) > count + 1:
                    digits, exponent = digits[:-1], exponent + 1
        fraction = digits[1:] if trim == "k" else digits[1:].rstrip("0")
        minus = "-" if np.signbit(x) else ""
        return "%s.%se%s%s" % ((minus + digits[0]).rjust(pad_left), fraction, "-" if exponent < 0 else "+",
                               str(abs(exponent)).rjust(exp_digits, "0"))
    return scientific


class printing_as:
    """Within: NumPy lays out, `binary` makes the digits."""

    def __init__(self, binary):
        self.new = make_positional(binary), make_scientific(binary)

    def __enter__(self):
        self.old = arrayprint.dragon4_positional, arrayprint.dragon4_scientific
        arrayprint.dragon4_positional, arrayprint.dragon4_scientific = self.new

    def __exit__(self, *_):
        arrayprint.dragon4_positional, arrayprint.dragon4_scientific = self.old


FLOAT16, BFLOAT16 = Binary(11, -24), Binary(8, -133)


def str_bfloat16(x):
    """str() of a scalar, the rule that NumPy has for its own types."""
    if not np.isfinite(x):
        return str(float(x))
    positional, scientific = make_positional(BFLOAT16), make_scientific(BFLOAT16)
    if x == 0 or 1e-4 <= abs(float(x)) < 1e16:
        text = positional(x, 1000, True, True, ".", False)
        return text + "0" if text.endswith(".") else text
    return scientific(x, 1000, True, ".", False).replace(".e", "e")


def from_bfloat16(bits):
    return (bits.astype(np.uint32).reshape(-1) << 16).view(np.float32).reshape(bits.shape)


def to_bfloat16(values):
    tensor = torch.from_numpy(np.ascontiguousarray(values, np.float64)).to(torch.float32).to(torch.bfloat16)
    return tensor.view(torch.int16).numpy().view(np.uint16)


# --- cases ---------------------------------------------------------------------------------------------------

def shape_text(shape):
    return "(" + ",".join(map(str, shape)) + ")"


def filled(pattern, shape):
    count = int(np.prod(shape, dtype=np.int64))
    return np.resize(pattern, count).reshape(shape) if count else np.zeros(shape, pattern.dtype)


def little_hex(pattern):
    return pattern.astype(pattern.dtype.newbyteorder("<")).tobytes().hex()


def text_case(out, dtype, pattern, shape, precision=8, threshold=1000, edge=3, width=75):
    """`pattern` holds elements of dtype, bfloat16 as uint16 bits."""
    array = filled(pattern, shape)
    options = dict(precision=precision, threshold=threshold, edgeitems=edge, linewidth=width)
    with np.printoptions(**options):
        if dtype == "bfloat16":
            values = from_bfloat16(array)
            with printing_as(BFLOAT16):
                text = str_bfloat16(values[()]) if shape == () else str(values)
        else:
            text = str(array)
        if dtype == "float16" and shape != ():  # the fractions above must print as NumPy does
            with printing_as(FLOAT16):
                assert str(array) == text, (str(array), text)
    lines = text.split("\n")
    print("text", dtype, shape_text(shape), precision, threshold, edge, width, len(lines), file=out)
    print(little_hex(pattern) or "-", file=out)
    for line in lines:
        print(line, file=out)


def elements(dtype, count, kind):
    """Elements of a kind that is hard in one way."""
    if dtype == "bool":
        return rng.random(count) < 0.5
    if dtype not in FLOATS:
        info = np.iinfo(dtype)
        if kind == "wide":
            values = rng.integers(info.min, info.max, count, endpoint=True, dtype=dtype)
            values[rng.random(count) < 0.1] = info.min
            values[rng.random(count) < 0.1] = info.max
            return values
        return rng.integers(0 if info.min == 0 else -12, 100, count).astype(dtype)
    values = {
        "normal": lambda: rng.standard_normal(count),
        "unit": lambda: rng.random(count),
        "short": lambda: rng.integers(-30, 30, count) / 4,
        "whole": lambda: rng.integers(-3000, 3000, count).astype(float),
        "tenths": lambda: rng.integers(-99, 99, count) / 10,
        "wide": lambda: rng.standard_normal(count) * 10.0 ** rng.integers(-7, 5, count),
        "extreme": lambda: rng.standard_normal(count) * 10.0 ** rng.integers(-44, 38, count),
        "ratio": lambda: rng.choice([1.0, 1000.0, 999.9, 1001.0, 0.1, 2.0], count),
        "edge": lambda: rng.choice([1e-4, 0.00011, 0.01, 0.05, 0.02], count),
        "thousands": lambda: rng.integers(2000, 65000, count).astype(float),
        "large": lambda: rng.integers(1, 10 ** 8, count) + rng.choice([0, 0.5], count),
        "masked": lambda: rng.choice([-np.inf, 0.25, 1.5, -2.0], count),
        "broken": lambda: rng.choice([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-9, 12.5], count),
        "nothing": lambda: rng.choice([np.nan, np.inf], count),
        "fill": lambda: rng.choice([-1e9, 0.5, 0.25], count),
    }[kind]()
    if dtype == "bfloat16":
        return to_bfloat16(values)
    with np.errstate(over="ignore"):
        return values.astype(dtype)


KINDS = ["normal", "unit", "short", "whole", "tenths", "wide", "extreme", "ratio", "edge", "thousands", "large", "masked",
         "broken", "nothing", "fill"]


def any_bits(dtype, count):
    size = 2 if dtype == "bfloat16" else np.dtype(dtype).itemsize
    bits = rng.integers(0, 256, count * size, dtype=np.uint8)
    return bits.view(np.uint16 if dtype == "bfloat16" else dtype)


def numpy_text(out):
    shapes = [(1,), (2,), (7,), (25,), (1, 1), (3, 4), (2, 11), (5, 1), (2, 2, 3), (1, 2, 1, 3), (2, 1, 2, 2)]
    for dtype in FLOATS:
        for kind in KINDS:
            for _ in range(3):
                shape = shapes[rng.integers(len(shapes))]
                count = int(np.prod(shape))
                text_case(out, dtype, elements(dtype, count, kind), shape)
            text_case(out, dtype, elements(dtype, 6, kind), (2, 3), precision=int(rng.integers(0, 7)),
                      width=int(rng.integers(10, 60)))
        for _ in range(3):
            text_case(out, dtype, any_bits(dtype, 12), (3, 4), precision=int(rng.integers(0, 20)))
        for _ in range(8):
            text_case(out, dtype, any_bits(dtype, 1), ())
        for value in [0.0, -0.0, 0.1, 1.0, 1e-4, 9.9e-5, 1e15, 1e16, 65504.0, np.nan, -np.inf, 2.0 ** -24, 1 / 3,
                      2.0 ** -6, 2.0 ** 64]:
            with np.errstate(over="ignore"):
                one = to_bfloat16([value]) if dtype == "bfloat16" else np.array([value]).astype(dtype)
            text_case(out, dtype, one, ())
    for dtype in NUMPY_TYPES[:9]:
        for kind in ["small", "wide"]:
            for shape in [(), (1,), (7,), (30,), (2, 3, 2)]:
                text_case(out, dtype, elements(dtype, int(np.prod(shape)), kind), shape)
    for shape in [(0,), (2, 0), (0, 3, 4), (1, 0, 1)]:
        text_case(out, "float32", np.zeros(0, np.float32), shape)
    # Summaries: a short pattern fills them.
    for dtype in ["bool", "int16", "uint64", "float16", "bfloat16", "float32", "float64"]:
        for shape in [(1001,), (40, 26), (2, 3, 200)]:
            text_case(out, dtype, elements(dtype, 5, "normal"), shape)
        text_case(out, dtype, elements(dtype, 7, "wide"), (9, 8), precision=3, threshold=10, edge=2, width=30)
        text_case(out, dtype, elements(dtype, 7, "wide"), (3, 9), precision=4, threshold=0, edge=1, width=20)
        text_case(out, dtype, elements(dtype, 7, "wide"), (3, 9), precision=4, threshold=0, edge=0, width=40)
        text_case(out, dtype, elements(dtype, 5, "normal"), (1,), threshold=0)
    for shape in [(1000,), (400, 3), (11, 12, 13), (7, 6, 5, 7)]:
        text_case(out, "float32", elements("float32", 7, "normal"), shape)
        text_case(out, "int8", elements("int8", 7, "small"), shape)


# --- statistics ----------------------------------------------------------------------------------------------

def exact_stats(values):
    finite = [Fraction(float(v)) for v in values if np.isfinite(v)]
    if not finite:
        return [np.nan] * 4
    mean = sum(finite) / len(finite)
    variance = sum((v - mean) ** 2 for v in finite) / len(finite)
    with decimal.localcontext() as context:
        context.prec, context.Emax, context.Emin = 60, 10 ** 6, -10 ** 6
        root = (decimal.Decimal(variance.numerator) / decimal.Decimal(variance.denominator)).sqrt()
    return [float(min(finite)), float(max(finite)), float(mean), float(root)]


def stats_case(out, dtype, pattern, shape):
    array = filled(pattern, shape)
    values = from_bfloat16(array).ravel() if dtype == "bfloat16" else array.ravel()
    nan = pos = neg = 0
    if dtype in FLOATS:
        nan, pos, neg = int(np.isnan(values).sum()), int((values == np.inf).sum()), int((values == -np.inf).sum())
    print("stats", dtype, shape_text(shape), values.size - nan - pos - neg, nan, pos, neg,
          *[repr(float(x)) for x in exact_stats(values)], file=out)
    print(little_hex(pattern) or "-", file=out)


def histogram_case(out, dtype, pattern, shape, bins):
    values = filled(pattern, shape).ravel()
    finite = values[np.isfinite(values)].astype(np.float64)
    counts, edges = np.histogram(finite, bins)
    print("histogram", dtype, shape_text(shape), bins, *counts, *[repr(float(x)) for x in edges], file=out)
    print(little_hex(pattern), file=out)


def stats(out):
    for dtype in FLOATS:
        for kind in KINDS:
            stats_case(out, dtype, elements(dtype, 12, kind), (3, 4))
        stats_case(out, dtype, elements(dtype, 0, "unit"), (0, 4))
    for dtype in NUMPY_TYPES[:9]:
        stats_case(out, dtype, elements(dtype, 11, "wide"), (11,))
    # A large mean: numbers of 53 bits whose squares keep nothing of the noise.
    stats_case(out, "float64", 1e8 + rng.standard_normal(97) * 1e-3, (5, 1999))
    stats_case(out, "float32", (1e5 + rng.standard_normal(61)).astype(np.float32), (4097,))
    stats_case(out, "float64", np.array([1e300, 1e-300, -1e300, 5.0]), (4, 3))
    stats_case(out, "float64", np.array([-np.finfo(float).max, np.finfo(float).max]), (10,))
    stats_case(out, "float64", np.array([-np.finfo(float).max]), (4100,))
    stats_case(out, "float64", np.array([-np.finfo(float).max, 0.5, 0.25]), (9001,))
    stats_case(out, "float32", np.array([0.1], np.float32), (10000,))
    for bins in [1, 7, 10, 16]:
        histogram_case(out, "float32", elements("float32", 40, "normal"), (8, 5), bins)
        histogram_case(out, "float64", elements("float64", 40, "tenths"), (5000,), bins)
        histogram_case(out, "float64", elements("float64", 12, "broken"), (12,), bins)
        histogram_case(out, "float32", np.array([2.5], np.float32), (6,), bins)


# --- comparison ----------------------------------------------------------------------------------------------

EPSILON = dict(float16=2.0 ** -10, bfloat16=2.0 ** -7, float32=2.0 ** -23, float64=2.0 ** -52)
TORCH = dict(float16=torch.float16, bfloat16=torch.bfloat16, float32=torch.float32, float64=torch.float64,
             bool=torch.bool, int8=torch.int8, int16=torch.int16, int32=torch.int32, int64=torch.int64,
             uint8=torch.uint8)


def as_double(dtype, pattern):
    with np.errstate(invalid="ignore"):  # a signalling NaN is quietened
        return from_bfloat16(pattern).astype(np.float64) if dtype == "bfloat16" else pattern.astype(np.float64)


def ordinal(x, dtype):
    """Position of x, rounded to dtype, in the list of its numbers."""
    if dtype == "bfloat16":
        bits, size = int(to_bfloat16([x])[0]), 16
    else:
        with np.errstate(over="ignore"):
            raw = np.array([x]).astype(dtype).tobytes()
        bits, size = int.from_bytes(raw, "little"), 8 * len(raw)
    magnitude = bits & ((1 << (size - 1)) - 1)
    return -magnitude if bits >> (size - 1) else magnitude


def compare_case(out, type_a, a, type_b, b, rtol, atol, equal_nan=False):
    x, y = as_double(type_a, a), as_double(type_b, b)
    close = torch.isclose(torch.from_numpy(x), torch.from_numpy(y), rtol, atol, equal_nan).numpy()
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        apart = np.abs(x - y)
    if type_a not in FLOATS and type_b not in FLOATS:
        apart = np.array([float(abs(int(m) - int(n))) for m, n in zip(a, b)])
        with np.errstate(over="ignore"):
            close = apart <= atol + rtol * np.abs(y)
    finite = np.isfinite(x) & np.isfinite(y)
    off = ~close
    with np.errstate(all="ignore"):
        relative = np.where(y != 0, apart / np.abs(y), 0)
    max_abs, max_abs_at = 0.0, 0
    max_rel, max_rel_at = 0.0, 0
    ulp = 0
    floats = [t for t in (type_a, type_b) if t in FLOATS]
    coarser = max(floats, key=EPSILON.get) if floats else None
    for n in range(x.size):
        if finite[n]:
            if apart[n] > max_abs:
                max_abs, max_abs_at = float(apart[n]), n
            if relative[n] > max_rel:
                max_rel, max_rel_at = float(relative[n]), n
        if coarser is None or (not finite[n] and not off[n]):
            continue
        if np.isnan(x[n]) or np.isnan(y[n]):
            ulp = 2 ** 64 - 1
        else:
            ulp = max(ulp, abs(ordinal(x[n], coarser) - ordinal(y[n], coarser)))
    first = int(np.argmax(off)) if off.any() else 0
    print("compare", type_a, type_b, x.size, repr(rtol), repr(atol), int(equal_nan), int(off.sum()),
          int((off & ~finite).sum()), first, repr(max_abs), max_abs_at, repr(max_rel), max_rel_at, ulp, file=out)
    print(little_hex(a) or "-", file=out)
    print(little_hex(b) or "-", file=out)


def convert(dtype, values):
    if dtype == "bfloat16":
        return to_bfloat16(values)
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(values).astype(dtype)


def compare(out):
    for a in TORCH:
        for b in TORCH:
            rtol, atol = torch.testing._comparison.default_tolerances(TORCH[a], TORCH[b])
            print("tolerance", a, b, repr(rtol), repr(atol), file=out)
    for a in FLOATS:
        for b in FLOATS:
            for kind in ["normal", "wide", "extreme", "broken", "masked"]:
                x = as_double(a, elements(a, 10, kind))
                noise = rng.choice([0.0, 1e-7, 1e-5, 1e-3, 0.1], 10)
                with np.errstate(over="ignore", invalid="ignore"):
                    y = x * (1 + noise)
                rtol, atol = torch.testing._comparison.default_tolerances(TORCH[a], TORCH[b])
                compare_case(out, a, convert(a, x), b, convert(b, y), rtol, atol, bool(rng.integers(2)))
        compare_case(out, a, any_bits(a, 16), a, any_bits(a, 16), 0.0, 0.0)
        edges = np.array([0.0, -0.0, np.inf, -np.inf, np.inf, 1.0])
        compare_case(out, a, convert(a, edges), a, convert(a, [-0.0, 0.0, np.inf, -np.inf, 1e30, 1.0]), 0.0, 0.0)
        tiny = {"float16": 2.0 ** -24, "bfloat16": 2.0 ** -133, "float32": 2.0 ** -149, "float64": 5e-324}[a]
        compare_case(out, a, convert(a, [tiny, 3 * tiny]), a, convert(a, [-tiny, -2 * tiny]), 0.0, 0.0)
        compare_case(out, a, convert(a, [np.inf, -np.inf]), a, convert(a, [-np.inf, np.inf]), 0.5, 0.5)
        compare_case(out, a, convert(a, [np.nan, 1.0]), a, convert(a, [np.nan, 1.0]), 0.0, 0.0, True)
        compare_case(out, a, convert(a, [np.nan, 1.0]), a, convert(a, [np.nan, 1.0]), 0.0, 0.0, False)
        compare_case(out, a, convert(a, []), a, convert(a, []), 0.0, 0.0)
        compare_case(out, a, elements(a, 5, "whole"), "int16", elements("int16", 5, "small"), 1e-3, 1e-5)
    for a in NUMPY_TYPES[:9]:
        compare_case(out, a, elements(a, 9, "wide"), a, elements(a, 9, "wide"), 0.0, 0.0)
        compare_case(out, a, elements(a, 9, "small"), "int32", elements("int32", 9, "small"), 0.0, 3.0)
    big = 2 ** 60
    compare_case(out, "int64", np.array([big, -big, 5]), "int64", np.array([big + 1, -big, 5]), 0.0, 0.0)
    compare_case(out, "uint64", np.array([2 ** 64 - 1, big + 1], np.uint64), "int64", np.array([-1, big]), 0.0, 0.0)
    compare_case(out, "uint64", np.array([2 ** 64 - 1], np.uint64), "uint64", np.array([0], np.uint64), 0.0, 0.0)


def check_fractions():
    """The fractions agree with NumPy on every float16."""
    scientific = make_scientific(FLOAT16)
    for x in np.arange(0x7C00, dtype=np.uint16).view(np.float16)[::37]:
        assert scientific(x, 99, True, ".", False) == np.format_float_scientific(x, trim="."), x
    x = np.float16(2.0 ** -6)  # 0.015625: 0.01562 is nearer than 0.01563, but to another number
    assert scientific(x, 99, True, ".", False) == np.format_float_scientific(x, trim=".") == "1.563e-02"


def main():
    assert struct.pack("=H", 1) == b"\1\0", "patterns are written as this machine holds them"
    check_fractions()
    os.makedirs(HERE, exist_ok=True)
    for write in (numpy_text, stats, compare):
        with open(os.path.join(HERE, write.__name__ + ".txt"), "w", encoding="ascii") as out:
            write(out)


main()

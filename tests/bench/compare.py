#!/usr/bin/python3
"""Times qkv beside other programs on this CPU: NumPy, PyTorch and ONNX Runtime, where they are installed.

usage: compare.py [--qkv PROGRAM] [--limits PROGRAM] [--rounds N] [--tiny] [--only NAME]

Every round runs each program once on the same inputs, so that whatever else the machine does meets all of them alike;
what is printed is the best and the median of the rounds, and how many times qkv is faster than the best of the others.
With --limits (build/release/tests/bench/qkv_limits) every round also samples the multiply-add peak and the reading speed of
the CPU, and qkv's share of them is printed: of a causal work only what is visible counts; of one query, the bytes of k and v.
Only computing is timed, not reading and writing. ONNX Runtime is used through node's package onnxruntime-node (npm
install onnxruntime-node); NODE_PATH says where it is if node does not find it by itself. What is not there is skipped.
"""

import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

try:
    import numpy as np
except ImportError:
    print("skipped: there is no NumPy here")
    sys.exit(0)

import programs

WORK = [
    # name, B, H, G, L, S, D, causal
    ("B1 H8 L1024 D64", 1, 8, 8, 1024, 1024, 64, False),
    ("B1 H8 L4096 D64", 1, 8, 8, 4096, 4096, 64, False),
    ("B1 H8 L4096 D64 causal", 1, 8, 8, 4096, 4096, 64, True),
    ("B1 H8 L512 D64 causal", 1, 8, 8, 512, 512, 64, True),
    ("B1 H8 L2048 D128", 1, 8, 8, 2048, 2048, 128, False),
    ("B1 H1 L16384 D64", 1, 1, 1, 16384, 16384, 64, False),
    ("B8 H12 L128 D64", 8, 12, 12, 128, 128, 64, False),
    ("decode H32 L1 S8192 D128", 1, 32, 32, 1, 8192, 128, False),
    ("decode H32/8 L1 S8192 D128", 1, 32, 8, 1, 8192, 128, False),
]


def others():
    """The programs that are installed here."""
    found = [programs.NumPy()]
    for kind in (programs.PyTorch, programs.OnnxRuntime):
        try:
            found.append(kind())
        except (ImportError, RuntimeError, subprocess.CalledProcessError) as error:
            print(f"skipped: {kind.name}: {str(error).splitlines()[0]}")
    return found


def write_inputs(work, folder):
    _, B, H, G, L, S, D, _ = work
    random = np.random.default_rng(1)
    for tensor, shape in (("q", (B, H, L, D)), ("k", (B, G, S, D)), ("v", (B, G, S, D))):
        np.save(folder / f"{tensor}.npy", random.standard_normal(shape, dtype=np.float32))


def print_share(work, seconds, limits):
    """How near qkv comes to what the CPU did at best in the same rounds."""
    _, B, H, G, L, S, D, causal = work
    if L == 1:
        unit, of, done = "bytes", "the reading speed", 2 * 4 * B * G * S * D
    else:
        unit, of, done = "flops", "the multiply-add peak", 4 * B * H * L * S * D * ((L + 1) / (2 * L) if causal else 1)
    limit = limits.best(unit)
    print(f"  qkv does {done / min(seconds) / limit:.2f} of {of} (best), "
          f"{done / statistics.median(seconds) / limit:.2f} (median): {limit / 1e9:.1f} G{unit}/s")


def compare(work, candidates, limits, rounds, threads, folder):
    operations = 4 * work[1] * work[2] * work[4] * work[5] * work[6]
    ready, times = [], {}
    for program in candidates:
        try:
            program.prepare(work, folder, threads)
            program.seconds()
            ready.append(program)
            times[program.name] = []
        except RuntimeError as error:
            print(f"  {program.name:14} {str(error).splitlines()[0]}")
    for _ in range(rounds):
        for program in ready:
            # Threads of the one before may still wait for work by spinning.
            time.sleep(0.05)
            times[program.name].append(program.seconds())
        if limits is not None:
            limits.sample()
    for name, seconds in times.items():
        best, median = min(seconds), statistics.median(seconds)
        print(f"  {name:14} best {best * 1e3:9.2f} ms  median {median * 1e3:9.2f} ms  {operations / best / 1e9:7.1f} GFLOP/s")
    rivals = [name for name in times if name != "qkv"]
    if rivals:
        rival = min(rivals, key=lambda name: min(times[name]))
        ratio = [statistics.median(times[rival]) / statistics.median(times["qkv"]), min(times[rival]) / min(times["qkv"])]
        print(f"  qkv is {ratio[1]:.2f} times as fast as {rival} (best), {ratio[0]:.2f} (median)")
    if limits is not None:
        print_share(work, times["qkv"], limits)


def main():
    parser = programs.options_of(__doc__)
    parser.add_argument("--only", default="", help="workloads whose name has this in it")
    options = parser.parse_args()

    candidates = [programs.Qkv(options.qkv)] + others()
    counts = sorted({1, min(2, os.cpu_count() or 1)})
    for work in WORK:
        if options.only not in work[0]:
            continue
        if options.tiny:
            name, B, H, G, L, S, D, causal = work
            work = (name + " (tiny)", 1, 4 * H // G, 4, min(L, 33), min(S, 65) if L == 1 else min(L, 33), D, causal)
        with tempfile.TemporaryDirectory() as folder:
            write_inputs(work, pathlib.Path(folder))
            for threads in counts[:1] if options.tiny else counts:
                print(f"{work[0]}, {threads} thread{'s' if threads > 1 else ''}", flush=True)
                limits = programs.Limits(options.limits, threads) if options.limits else None
                compare(work, candidates, limits, 1 if options.tiny else options.rounds, threads, pathlib.Path(folder))
                if limits is not None:
                    limits.close()
    for program in candidates:
        getattr(program, "close", lambda: None)()


if __name__ == "__main__":
    main()

#!/usr/bin/python3
"""Times what a user of `qkv trace` waits for: the same stages and statistics in PyTorch, and starting up.

usage: compare_trace.py [--qkv PROGRAM] [--limits PROGRAM] [--rounds N] [--tiny]

1. `qkv trace --json` of B1 H8 L2048 D64, whole processes from start to end, beside PyTorch's computing alone: the product,
   the scaled scores, the softmax and the output, and of each the least, greatest, mean and standard deviation, how many are
   NaN or infinite, and how far the sums of the rows are from one.
2. `qkv stats` of q, k and v at once against the reading speed of the CPU (with --limits).
3. `qkv trace` of a (2,4,8) bundle beside a program that does nothing.
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


class PyTorchStages:
    """The stages of the formula in PyTorch, each with the statistics that qkv prints of it."""

    def __init__(self, folder, threads):
        import torch

        self.torch = torch
        torch.set_num_threads(threads)
        self.q, self.k, self.v = (torch.from_numpy(np.load(folder / f"{tensor}.npy")) for tensor in "qkv")

    def statistics(self, x):
        torch = self.torch
        counts = [test(x).sum().item() for test in (torch.isnan, torch.isposinf, torch.isneginf)]
        return [x.min().item(), x.max().item(), x.mean().item(), x.std().item()] + counts

    def seconds(self):
        torch = self.torch
        start = time.perf_counter()
        for x in (self.q, self.k, self.v):
            self.statistics(x)
        scores = torch.matmul(self.q, self.k.transpose(2, 3))
        self.statistics(scores)
        scaled = scores * self.q.shape[3] ** -0.5
        self.statistics(scaled)
        attn = torch.softmax(scaled, 3)
        self.statistics(attn)
        (attn.sum(3) - 1).abs().max().item()
        self.statistics(torch.matmul(attn, self.v))
        return time.perf_counter() - start


def wall(command):
    start = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


def report(times):
    for name, seconds in times.items():
        best, median = min(seconds), statistics.median(seconds)
        print(f"  {name:24} best {best * 1e3:9.2f} ms  median {median * 1e3:9.2f} ms")


def compare_stages(options, folder, size):
    random = np.random.default_rng(1)
    for tensor in "qkv":
        np.save(folder / f"{tensor}.npy", random.standard_normal(size, dtype=np.float32))
    files = [part for tensor in "qkv" for part in (f"--{tensor}", str(folder / f"{tensor}.npy"))]
    for threads in sorted({1, min(2, os.cpu_count() or 1)}):
        print(f"stages and statistics of {size}, {threads} thread{'s' if threads > 1 else ''}", flush=True)
        try:
            rival = PyTorchStages(folder, threads)
        except ImportError:
            print("  skipped: there is no PyTorch here")
            rival = None
        command = [options.qkv, "trace", *files, "--threads", str(threads), "--json", "-q"]
        times = {"qkv, the whole process": []} | ({"PyTorch, computing alone": []} if rival else {})
        for _ in range(options.rounds):
            time.sleep(0.05)
            times["qkv, the whole process"].append(wall(command))
            if rival:
                times["PyTorch, computing alone"].append(rival.seconds())
        report(times)
        if rival:
            ours, theirs = (statistics.median(seconds) for seconds in times.values())
            print(f"  qkv is {theirs / ours:.2f} times as fast (median)")


def compare_reading(options, folder, count):
    np.save(folder / "big.npy", np.random.default_rng(2).standard_normal(count, dtype=np.float32).reshape(-1, 64))
    command = [options.qkv, "stats", str(folder / "big.npy"), "--json"]
    limits = programs.Limits(options.limits, os.cpu_count()) if options.limits else None
    times = {"nothing": [], "stats": []}
    for _ in range(options.rounds):
        times["nothing"].append(wall(["true"]))
        times["stats"].append(wall(command))
        if limits:
            limits.sample()
    print(f"statistics of {count * 4 / 1e6:.0f} MB, whole processes", flush=True)
    report(times)
    if limits:
        done = count * 4 / (min(times["stats"]) - min(times["nothing"]))
        print(f"  {done / 1e9:.1f} GB/s, {done / limits.best('bytes'):.2f} of the reading speed, with mapping the file in it")
        limits.close()


def compare_start(options, folder):
    bundle = folder / "bundle"
    subprocess.run([options.qkv, "init", str(bundle), "--batch", "2", "--seq", "4", "--d-model", "8", "--d-k", "4",
                    "--d-v", "8", "--seed", "0"], stdout=subprocess.DEVNULL, check=True)
    times = {"true": [], "qkv --version": [], "qkv trace (2,4,8)": []}
    for _ in range(4 * options.rounds):
        times["true"].append(wall(["true"]))
        times["qkv --version"].append(wall([options.qkv, "--version"]))
        times["qkv trace (2,4,8)"].append(wall([options.qkv, "trace", str(bundle)]))
    print("starting up, whole processes", flush=True)
    report(times)


def main():
    options = programs.options_of(__doc__).parse_args()
    if options.tiny:
        options.rounds = 1
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        compare_stages(options, folder, (1, 2, 70, 16) if options.tiny else (1, 8, 2048, 64))
        compare_reading(options, folder, 64 * 100 if options.tiny else 64 << 20)
        compare_start(options, folder)


if __name__ == "__main__":
    main()

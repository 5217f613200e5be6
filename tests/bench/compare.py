#!/usr/bin/python3
"""Times qkv beside other programs on this CPU: NumPy, PyTorch and ONNX Runtime, where they are installed.

usage: compare.py [--qkv PROGRAM] [--rounds N] [--tiny] [--only NAME]

Every round runs each program once on the same inputs, so that whatever else the machine does meets all of them alike;
what is printed is the best and the median of the rounds, and how many times qkv is faster than the best of the others.
Only computing is timed, not reading and writing. ONNX Runtime is used through node's package onnxruntime-node (npm
install onnxruntime-node); NODE_PATH says where it is if node does not find it by itself. What is not there is skipped.
"""

import argparse
import json
import os
import pathlib
import shutil
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


class Qkv:
    """The program itself; it times its computing, after a warm-up, since each round starts it anew."""

    def __init__(self, program):
        self.name = "qkv"
        self.program = program

    def prepare(self, work, folder, threads):
        _, _, H, G, _, _, _, causal = work
        self.command = [self.program, "run", "--heads", str(H), "--kv-heads", str(G), "--threads", str(threads),
                        "--time", "3", "--json", "-q"]
        for tensor in "qkv":
            self.command += [f"--{tensor}", str(folder / f"{tensor}.npy")]
        self.command += ["--causal"] if causal else []

    def seconds(self):
        out = subprocess.run(self.command, capture_output=True, text=True, check=True).stdout
        return json.loads(out)["compute_s"]["median"]


class NumPy:
    """The formula in four lines."""

    name = "NumPy"

    def prepare(self, work, folder, threads):
        _, _, H, G, L, S, D, causal = work
        if L * S * H > 2e8 or threads != 1:
            raise RuntimeError("left out: it holds every score" if threads == 1 else "left out: as with one thread")
        q, k, v = (np.load(folder / f"{tensor}.npy") for tensor in "qkv")
        k, v = (np.repeat(x, H // G, axis=1) for x in (k, v))
        mask = np.triu(np.full((L, S), -np.inf, np.float32), 1) if causal else np.float32(0)

        def compute():
            x = q @ k.swapaxes(2, 3) * np.float32(D**-0.5) + mask
            x = np.exp(x - x.max(3, keepdims=True))
            return x / x.sum(3, keepdims=True) @ v

        self.compute = compute

    def seconds(self):
        start = time.perf_counter()
        self.compute()
        return time.perf_counter() - start


class PyTorch:
    """scaled_dot_product_attention, or in versions without it the formula from softmax and matmul."""

    name = "PyTorch"

    def __init__(self):
        import torch

        self.torch = torch
        functional = torch.nn.functional
        self.fused = getattr(functional, "scaled_dot_product_attention", None)
        if self.fused is None:
            self.fused = getattr(functional, "_scaled_dot_product_attention", None)

    def prepare(self, work, folder, threads):
        torch = self.torch
        torch.set_num_threads(threads)
        _, _, H, G, _, _, D, causal = work
        q, k, v = (torch.from_numpy(np.load(folder / f"{tensor}.npy")) for tensor in "qkv")
        k, v = (x.repeat_interleave(H // G, 1) for x in (k, v))
        L, S = q.shape[2], k.shape[2]
        mask = torch.full((L, S), -float("inf")).triu(1) if causal else None

        def compute():
            with torch.no_grad():
                if self.fused is not None:
                    return self.fused(q, k, v, is_causal=causal)
                x = torch.matmul(q, k.transpose(2, 3)) * D**-0.5
                x = x if mask is None else x + mask
                return torch.matmul(torch.softmax(x, 3), v)

        self.compute = compute

    def seconds(self):
        start = time.perf_counter()
        self.compute()
        return time.perf_counter() - start


NODE = r"""
const ort = require('onnxruntime-node');
const fs = require('fs');
const readline = require('readline');
const [model, shapes, folder, threads] = [process.argv[2], JSON.parse(process.argv[3]), process.argv[4], +process.argv[5]];
(async () => {
  const session = await ort.InferenceSession.create(model, {intraOpNumThreads: threads, interOpNumThreads: 1});
  const feeds = {};
  for (const name of ['q', 'k', 'v']) {
    const bytes = fs.readFileSync(`${folder}/${name}.bin`);
    feeds[name] = new ort.Tensor('float32', new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4), shapes[name]);
  }
  await session.run(feeds);
  console.log('ready');
  for await (const line of readline.createInterface({input: process.stdin})) {
    const start = process.hrtime.bigint();
    await session.run(feeds);
    console.log(Number(process.hrtime.bigint() - start) / 1e9);
  }
})().catch(error => { console.error(String(error)); process.exit(1); });
"""


def varint(value):
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def field(number, value):
    """One field of a protocol buffer: an integer, a string, or a message that is encoded already."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def onnx_model(shapes, H, G, causal):
    """A model of one node, Attention of opset 23, q, k and v of rank 4."""

    def tensor_type(name, shape):
        dims = b"".join(field(1, field(1, n)) for n in shape)
        return field(1, name) + field(2, field(1, field(1, 1) + field(2, dims)))

    def integer(name, value):
        return field(5, field(1, name) + field(3, value) + field(20, 2))

    node = b"".join(field(1, name) for name in "qkv") + field(2, "y") + field(4, "Attention")
    node += integer("is_causal", int(causal))
    graph = field(1, node) + field(2, "attention")
    graph += b"".join(field(11, tensor_type(name, shapes[name])) for name in "qkv")
    graph += field(12, tensor_type("y", shapes["q"]))
    return field(1, 10) + field(7, graph) + field(8, field(2, 23))


class OnnxRuntime:
    """onnxruntime-node, kept running between the rounds."""

    name = "ONNX Runtime"

    def __init__(self):
        if shutil.which("node") is None:
            raise RuntimeError("there is no node here")
        subprocess.run(["node", "-e", "require('onnxruntime-node')"], check=True, capture_output=True)
        self.child = None

    def prepare(self, work, folder, threads):
        self.close()
        _, B, H, G, L, S, D, causal = work
        shapes = {"q": [B, H, L, D], "k": [B, G, S, D], "v": [B, G, S, D]}
        for tensor in "qkv":
            np.load(folder / f"{tensor}.npy").tofile(folder / f"{tensor}.bin")
        (folder / "model.onnx").write_bytes(onnx_model(shapes, H, G, causal))
        command = ["node", "-e", NODE, "--", str(folder / "model.onnx"), json.dumps(shapes), str(folder), str(threads)]
        # Behind -e the script's name is missing from node's arguments.
        command[2] = NODE.replace("process.argv[2]", "process.argv[1]").replace(
            "process.argv[3]", "process.argv[2]").replace("process.argv[4]", "process.argv[3]").replace(
                "process.argv[5]", "process.argv[4]")
        self.child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                      text=True)
        if self.child.stdout.readline().strip() != "ready":
            raise RuntimeError(self.child.stderr.read().strip())

    def seconds(self):
        self.child.stdin.write("\n")
        self.child.stdin.flush()
        return float(self.child.stdout.readline())

    def close(self):
        if self.child is not None:
            self.child.stdin.close()
            self.child.wait()
            self.child = None


def others():
    """The programs that are installed here."""
    found = [NumPy()]
    for kind in (PyTorch, OnnxRuntime):
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


def compare(work, programs, threads, rounds, folder):
    operations = 4 * work[1] * work[2] * work[4] * work[5] * work[6]
    ready, times = [], {}
    for program in programs:
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
    for name, seconds in times.items():
        best, median = min(seconds), statistics.median(seconds)
        print(f"  {name:14} best {best * 1e3:9.2f} ms  median {median * 1e3:9.2f} ms  {operations / best / 1e9:7.1f} GFLOP/s")
    rivals = [name for name in times if name != "qkv"]
    if rivals:
        rival = min(rivals, key=lambda name: min(times[name]))
        ratio = [statistics.median(times[rival]) / statistics.median(times["qkv"]), min(times[rival]) / min(times["qkv"])]
        print(f"  qkv is {ratio[1]:.2f} times as fast as {rival} (best), {ratio[0]:.2f} (median)")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--qkv", default="qkv", help="the program (qkv in PATH)")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--tiny", action="store_true", help="one round of tiny inputs, to see that everything works")
    parser.add_argument("--only", default="", help="workloads whose name has this in it")
    options = parser.parse_args()

    programs = [Qkv(options.qkv)] + others()
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
                compare(work, programs, threads, 1 if options.tiny else options.rounds, pathlib.Path(folder))
    for program in programs:
        getattr(program, "close", lambda: None)()


if __name__ == "__main__":
    main()

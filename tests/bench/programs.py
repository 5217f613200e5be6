"""The programs that compare.py and compare_trace.py time beside each other, and what the CPU can do at best.

A work is (name, B, H, G, L, S, D, causal). Each program is prepared for one work, and then asked for seconds() once a
round. What is not installed raises ImportError, RuntimeError or CalledProcessError when its object is made.
"""

import argparse
import json
import pathlib
import shutil
import subprocess
import time

import numpy as np


def options_of(description):
    """The options that the comparisons share."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--qkv", default="qkv", help="the program (qkv in PATH)")
    parser.add_argument("--limits", help="qkv_limits, to print shares of what the CPU can do")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--tiny", action="store_true", help="one round of tiny inputs, to see that everything works")
    return parser


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


class Limits:
    """The multiply-add peak and the reading speed of this CPU, sampled in a program of its own (qkv_limits)."""

    def __init__(self, program, threads):
        self.child = subprocess.Popen([program, str(threads)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.samples = []

    def sample(self):
        self.child.stdin.write("\n")
        self.child.stdin.flush()
        self.samples.append(json.loads(self.child.stdout.readline()))

    def best(self, name):
        """The greatest of the samples: "flops" or "bytes" a second."""
        return max(sample[name] for sample in self.samples)

    def close(self):
        self.child.stdin.close()
        self.child.wait()


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

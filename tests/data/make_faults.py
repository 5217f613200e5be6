#!/usr/bin/env python3
# make_faults.py: writes faults/CONFIG/, a bundle with the stages that wrong and right programs make of it.
#
# faults/CONFIG/{x,wq,...}.npy, config.json   the bundle
# faults/CONFIG/FAULT[.VARIANT].npz           every stage of a run that makes this mistake on purpose
# faults/CONFIG/right.HOW.npz                 every stage of a right run in another arithmetic
# faults/manifest.json                        a list: config, fault (null for a right run), variant, file, stages, and
#   stage     the first stage that is not what the run's own stages before it should have given; null where all are
#   same_as   other faults of the configuration with the same numbers in all stages, in attn and out, in out
#   right_in  of all, attn_out and out, those that hold the right numbers although a mistake was made
#
# Mistakes are made in float64 and stored as float32. Run it with NumPy 1.24 and torch 1.13; the same bytes come out
# each time.
import collections
import io
import json
import pathlib
import shutil
import sys
import zipfile

import numpy as np
import torch
from numpy.lib import format as npy

FOLDER = pathlib.Path(__file__).parent / "faults"
sys.path.insert(0, str(FOLDER))
sys.dont_write_bytecode = True
# Each of these adds its own to CONFIGS or MISTAKES.
import configs, heads, masks, positions, softmax_scale, weights  # noqa: E401, E402, F401
from arithmetic import Bfloat16, Half, Single, TorchSingle, as_bfloat16, as_half  # noqa: E402
from attention import Attention  # noqa: E402
from config import CONFIGS  # noqa: E402
from mistake import MISTAKES  # noqa: E402

# Variants that are made on thorough configurations only.
THOROUGH = {("softmax-whole", "tensor"), ("softmax-axis", "batch"), ("dropout-active", "p0.1"),
            ("heads-averaged", "repeated"), ("precision-f16", "weights"), ("precision-bf16", "weights"),
            ("mask-fill-small", "1e-9"), ("qk-swapped", "projections"), ("kv-swapped", "projections"),
            ("qkv-shared", "k-is-q")}
VIEWS = {"all": None, "attn_out": ("attn", "out"), "out": ("out",)}


def npy_bytes(array, dtype):
    """One .npy file; bfloat16 as ml_dtypes writes it, '<V2' and the upper halves of float32."""
    stream = io.BytesIO()
    if dtype == "bfloat16":
        npy.write_array_header_1_0(stream, {"descr": "<V2", "fortran_order": False, "shape": array.shape})
        stream.write((np.ascontiguousarray(array, np.float32).view(np.uint32) >> 16).astype("<u2").tobytes())
    else:
        npy.write_array(stream, np.ascontiguousarray(array, dtype), version=(1, 0), allow_pickle=False)
    return stream.getvalue()


def npz_bytes(arrays, dtype):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, array in arrays.items():
            member = zipfile.ZipInfo(f"{name}.npy", date_time=(1980, 1, 1, 0, 0, 0))
            member.compress_type, member.create_system = zipfile.ZIP_DEFLATED, 3
            archive.writestr(member, npy_bytes(array, dtype), compresslevel=9)
    return stream.getvalue()


def stored(array, dtype):
    """What a reader of the file sees, as float64; every NaN the same one."""
    array = {"float32": lambda t: t.astype(np.float32), "float16": as_half, "bfloat16": as_bfloat16}[dtype](array)
    return np.where(np.isnan(array), np.nan, array).astype(float)


def distance(got, expected):
    """Greatest difference, against the size of what was expected; infinite where shapes or NaN and Inf differ."""
    if got.shape != expected.shape:
        return np.inf
    finite = np.isfinite(expected)
    if not np.array_equal(got[~finite], expected[~finite], equal_nan=True) or not np.isfinite(got[finite]).all():
        return np.inf
    if not finite.any():
        return 0.0
    return np.abs(got[finite] - expected[finite]).max() / (1 + np.abs(expected[finite]).max())


def first_departure(right, stages, allowed):
    """The first stage that does not follow from those before it, and by how much."""
    for stage in right.names():
        off = distance(stages[stage], right.step(stage, stages)) if stage in stages else np.inf
        if off > allowed:
            return stage, off
    return None, 0.0


def same(one, other, view):
    """Whether two files hold the same numbers in these stages."""
    names = view or sorted(one | other)
    return all(n in one and n in other and one[n].shape == other[n].shape and
               np.allclose(one[n], other[n], rtol=1e-6, atol=1e-6, equal_nan=True) for n in names)


class Folder:
    """One configuration: its bundle, its files, and their entries in the manifest."""

    def __init__(self, config, turn):
        self.turn, self.config, self.right = turn, config, Attention(config.given, config.settings)
        self.path, self.entries, self.shown, self.written = FOLDER / config.name, [], [], {}
        self.reference = self.stages_of(self.right, "float32")

    @staticmethod
    def stages_of(run, dtype):
        return {n: stored(t, dtype) for n, t in run.stages().items()}

    def write_bundle(self):
        self.path.mkdir()
        for name, array in self.config.given.items():
            (self.path / f"{name}.npy").write_bytes(npy_bytes(array, array.dtype))
        (self.path / "config.json").write_text(json.dumps(self.config.settings) + "\n")

    def add(self, fault, variant, run, stages, dtype, stage):
        shown = {n: run.shown(t) for n, t in stages.items()}
        name = ".".join(part for part in (fault or "right", variant) if part) + ".npz"
        data = npz_bytes(shown, dtype)
        name = self.written.setdefault(data, name)  # the same bytes are kept once
        (self.path / name).write_bytes(data)
        self.shown.append(shown)
        self.entries.append({"config": self.config.name, "fault": fault, "variant": variant,
                             "file": f"{self.config.name}/{name}", "stage": stage, "stages": list(shown)})

    def add_faults(self):
        for fault in self.config.only or MISTAKES:
            for variant, run in MISTAKES[fault](self.right):
                if (fault, variant) in THOROUGH and not self.config.thorough:
                    continue
                dtype = run.changed.get("stored", "float32")
                stages = self.stages_of(run, dtype)
                off = max(distance(stages[n], t) for n, t in self.reference.items())
                allowed = 0.01 if dtype == "float16" else 2e-5
                if off <= allowed and not np.isnan(stages["out"]).any():
                    continue
                stage, by = first_departure(self.right, stages, allowed)
                clear = 1e-4 if fault.startswith("precision") else 1e-3
                assert by > clear or variant == "input", (self.config.name, fault, variant, stage, by)
                self.add(fault, variant, run, stages, dtype, stage)

    def add_right_runs(self):
        """In float32; and with every stage rounded, or rounded where it was stored only, by turns."""
        def run(arithmetic):
            return self.right.but(arithmetic=arithmetic)
        if self.turn % 3:
            self.add_right("float32", run(Single()), "float32", 2e-5)
        else:
            self.add_right("torch", run(TorchSingle()), "float32", 2e-5)
        if not self.config.plain_f16:
            self.add_right("bfloat16", run(Bfloat16()), "bfloat16", 0.05)
        elif self.turn % 2:
            self.add_right("bfloat16", run(Bfloat16()), "bfloat16", 0.05)
            self.add_right("float16-stored", run(Single()), "float16", 0.005)
        else:
            self.add_right("bfloat16-stored", run(Single()), "bfloat16", 0.05)
            self.add_right("float16", run(Half()), "float16", 0.005)

    def add_right(self, how, run, dtype, allowed):
        stages = self.stages_of(run, dtype)
        stage, off = first_departure(self.right, stages, allowed)
        assert stage is None, (self.config.name, how, stage, off)
        self.add(None, how, run, stages, dtype, None)

    def compare(self):
        """Fills in which files are alike."""
        right = {n: self.right.shown(t) for n, t in self.reference.items()}
        for entry, shown in zip(self.entries, self.shown):
            if entry["fault"] is None:
                continue
            entry["same_as"] = {
                name: sorted({other["fault"] for other, theirs in zip(self.entries, self.shown)
                              if other["fault"] not in (None, entry["fault"]) and same(shown, theirs, view)})
                for name, view in VIEWS.items()}
            entry["right_in"] = [name for name, view in VIEWS.items() if same(shown, right, view)]


def main():
    torch.set_num_threads(1)
    for old in FOLDER.glob("*/config.json"):
        shutil.rmtree(old.parent)
    manifest = []
    for turn, make in enumerate(CONFIGS.values()):
        folder = Folder(make(), turn)
        folder.write_bundle()
        folder.add_faults()
        if folder.config.right_runs:
            folder.add_right_runs()
        folder.compare()
        manifest += folder.entries
    lines = ",\n".join(json.dumps(entry, separators=(",", ":")) for entry in manifest)
    (FOLDER / "manifest.json").write_text(f"[\n{lines}\n]\n")
    made = collections.Counter(entry["fault"] for entry in manifest)
    spread = collections.Counter(fault for fault, _ in {(e["fault"], e["config"]) for e in manifest})
    for fault in [*MISTAKES, None]:
        print(f"{fault or 'right':22} {spread[fault]:3} configurations, {made[fault]:3} files")
    assert set(made) == {*MISTAKES, None}


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# make_fault_pairs.py: writes fault_pairs/CONFIG/, the stages of programs that make two mistakes at once.
#
# fault_pairs/CONFIG/ONE+OTHER.npz   every stage of a run of the bundle faults/CONFIG with both mistakes
# fault_pairs/manifest.json          a list: config, faults, file, stages, and
#   same_as   for all stages, and for attn and out: other pairs of mistakes with the same numbers
#
# A pair that has the numbers of the right run, or of a single mistake, is refused. Mistakes and bundles are those of
# make_faults.py; made in float64, stored as float32. The same bytes come out each time.
import itertools
import json
import pathlib
import shutil

import make_faults
from make_faults import CONFIGS, MISTAKES, Attention, Folder, npz_bytes, same

FOLDER = pathlib.Path(__file__).parent / "fault_pairs"
VIEWS = {"all": None, "attn_out": ("attn", "out")}

# The first is made first: what changes inputs before what changes steps, and rules before the steps that ask for them.
PAIRS = {
    "plain": ["qk-swapped+scale-missing", "scale-missing+softmax-axis.query", "scale-missing+attn-transposed",
              "scale-inverted+softmax-twice"],
    "square": ["weight-transposed.q+scale-missing", "weight-transposed.v+softmax-axis.query",
               "v-not-projected+scale-missing", "not-transposed-k+scale-missing", "kv-swapped+scale-twice"],
    "causal": ["bias-missing.q+causal-strict", "bias-missing.v+causal-missing", "causal-missing+scale-missing",
               "causal-one-ahead+scale-inverted", "causal-missing+softmax-axis.query"],
    "window": ["window-off-by-one.more+scale-missing", "window-off-by-one.less+scale-twice"],
    "masked-heads": ["mask-inverted+scale-missing", "mask-missing+scale-d-model", "heads-viewed+scale-missing",
                     "bias-missing.q+mask-transposed", "mask-missing+out-proj-missing",
                     "scale-missing+heads-merged-viewed", "mask-after-softmax+scale-missing",
                     "mask-missing+softmax-twice"],
    "linear": ["weight-transposed.q+scale-missing", "weight-transposed.all+heads-viewed", "bias-missing.q+heads-order",
               "out-proj-transposed+softmax-axis.query", "scale-twice+out-proj-missing", "bias-missing.v+heads-viewed",
               "qkv-shared.v-is-k+scale-missing", "bias-swapped.qk+heads-merged-viewed"],
    "grouped": ["gqa-tiled+scale-missing", "gqa-tiled+out-proj-missing", "gqa-tiled+heads-viewed"],
    "cross": ["bias-missing.q+mask-missing", "mask-inverted+scale-missing", "mask-axis.query+scale-d-model"],
    "padded": ["mask-missing+scale-missing", "mask-inverted+scale-missing", "causal-missing+heads-viewed"],
    "left-padded": ["scale-missing+empty-rows-uniform", "bias-missing.v+empty-rows-nan"],
    "batch-square": ["batch-first+scale-missing", "batch-first+scale-after-softmax"],
    "sample-masks": ["mask-axis.head+scale-missing", "mask-after-softmax+scale-missing"],
    "head-masks": ["mask-inverted+softmax-axis.query", "mask-transposed+scale-missing"],
    "float-mask": ["mask-missing+scale-missing"],
    "fill": ["mask-multiplied+scale-missing", "mask-fill-small.5+scale-twice"],
    "temperature": ["temperature+softmax-axis.query"],
    "softcap": ["mask-inverted+softcap-missing", "mask-inverted+softcap-after-mask"],
    "softcap-causal": ["causal-strict+softcap-missing", "softcap-missing+scale-missing",
                       "causal-strict+softcap-after-mask"],
    "temperature-heads": ["heads-viewed+temperature"],
    "causal-start": ["causal-align+scale-missing"],
    "causal-end": ["causal-align+gqa-tiled"],
    "layout": ["causal-missing+scale-missing"],
    "rope-half": ["rope-style+scale-missing", "gqa-tiled+rope-missing", "causal-missing+rope-base",
                  "rope-twice+out-proj-missing"],
    "rope-partial": ["bias-missing.q+rope-partial.whole", "bias-missing.v+rope-style"],
    "rope-interleaved": ["rope-style+scale-missing", "rope-axis+scale-inverted"],
    "cache": ["rope-offset.no-cache+scale-missing", "causal-strict+rope-style"],
    "fused-blocks": ["fused-qkv-order.per-head+scale-missing", "bias-missing.qkv+scale-twice"],
    "fused-per-head": ["fused-qkv-order.blocks+causal-missing"],
    "fused-per-group": ["fused-qkv-order.blocks+scale-missing"],
}


def runs_of(fault, right):
    """(variant, run) pairs; a mistake that another has made impossible gives none."""
    try:
        yield from MISTAKES[fault](right)
    except (KeyError, ValueError, IndexError):
        return


def mistaken(name, right):
    fault, _, variant = name.partition(".")
    return next(run for made, run in runs_of(fault, right) if made == variant)


def shown(run):
    """The stages as the files hold them; None where the two mistakes leave no computation."""
    try:
        return {n: run.shown(t) for n, t in Folder.stages_of(run, "float32").items()}
    except (KeyError, ValueError, IndexError):
        return None


def all_alone(right):
    return [(fault, run) for fault in MISTAKES for _, run in runs_of(fault, right)
            if run.changed.get("stored", "float32") == "float32"]


def all_pairs(alone):
    """Every two mistakes, in the order in which both come out: the second must not undo the first."""
    for fault, run in alone:
        for other in MISTAKES:
            if other == fault:
                continue
            for _, both in runs_of(other, run):
                kept = all(both.changed.get(key) is step for key, step in run.changed.items())
                stages = shown(both) if kept else None
                if stages is not None:
                    yield sorted((fault, other)), stages


class PairFolder:
    def __init__(self, name):
        self.name, self.config = name, CONFIGS[name]()
        self.right = Attention(self.config.given, self.config.settings)

    def entries(self):
        (FOLDER / self.name).mkdir(parents=True)
        alone = all_alone(self.right)
        single = [shown(run) for _, run in alone] + [shown(self.right)]
        pairs = list(all_pairs(alone))
        for pair in PAIRS[self.name]:
            names = pair.split("+")
            run = self.right
            for name in names:
                run = mistaken(name, run)
            stages, faults = shown(run), [name.partition(".")[0] for name in names]
            for view in VIEWS.values():
                assert not any(same(stages, other, view) for other in single if other), (self.name, pair, view)
            (FOLDER / self.name / f"{pair}.npz").write_bytes(npz_bytes(stages, "float32"))
            yield {"config": self.name, "faults": faults, "file": f"{self.name}/{pair}.npz", "stages": list(stages),
                   "same_as": {name: [list(other) for other in sorted({
                       tuple(others) for others, theirs in pairs
                       if others != sorted(faults) and same(stages, theirs, view)})]
                               for name, view in VIEWS.items()}}


def main():
    make_faults.torch.set_num_threads(1)
    shutil.rmtree(FOLDER, ignore_errors=True)
    manifest = list(itertools.chain.from_iterable(PairFolder(name).entries() for name in PAIRS))
    lines = ",\n".join(json.dumps(entry, separators=(",", ":")) for entry in manifest)
    (FOLDER / "manifest.json").write_text(f"[\n{lines}\n]\n")
    print(f"{len(manifest)} pairs on {len(PAIRS)} configurations")


if __name__ == "__main__":
    main()

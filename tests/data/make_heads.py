#!/usr/bin/env python3
# make_heads.py: writes heads/CASE/, a bundle whose folders heads/0 ... H-1 hold each head's own projections, and
# heads/CASE.npz, what a list of single heads makes of it in PyTorch, float64: attn, out, gradients of out.sum(), and per
# head the means over batch and queries of: entropy in nats, its share of ln(keys seen), greatest weight, weight on the
# query's own key, on the one before and on the first (NaN: keys come from another sequence).
#
# The heads are computed one by one, put side by side, and sent through one linear layer; nothing here knows of multi-head
# attention. The gradients of the heads' weights are put side by side as the heads are.
# Run it with NumPy 1.24 and torch 1.13; the same bytes come out each time.
import json
import pathlib
import shutil

import numpy as np
import torch
from torch import nn

FOLDER = pathlib.Path(__file__).parent / "heads"
B, L, S, E = 2, 4, 5, 6


class Head(nn.Module):
    """One head of its own: Parameters (in,out), or biased nn.Linear layers (out,in)."""

    def __init__(self, width, context_width, D, Dv, linear, bias):
        super().__init__()
        self.linear = linear
        make = (lambda i, o: nn.Linear(i, o, bias=bias)) if linear else (lambda i, o: nn.Parameter(torch.rand(i, o) - 0.3))
        self.wq, self.wk, self.wv = make(width, D), make(context_width, D), make(context_width, Dv)

    def forward(self, x, context, causal):
        q, k, v = ((w(y) if self.linear else y @ w)
                   for w, y in ((self.wq, x), (self.wk, context), (self.wv, context)))
        scores = q @ k.transpose(-2, -1) / k.shape[-1] ** 0.5
        if causal:
            hidden = torch.triu(torch.ones(scores.shape[-2:], dtype=torch.bool), diagonal=1)
            scores = scores.masked_fill(hidden, -torch.inf)
        attn = torch.softmax(scores, dim=-1)
        return attn, attn @ v


def statistics(attn, causal, cross):
    """attn of one head, (B,L,S) -> six means."""
    attn = attn.detach().numpy()
    weights = np.where(attn > 0, attn, 1)
    entropy = -(weights * np.log(weights)).sum(-1)
    seen = np.array([i + 1 if causal else attn.shape[2] for i in range(attn.shape[1])])
    several = seen > 1
    rows = np.arange(attn.shape[1])
    return [entropy.mean(), (entropy[:, several] / np.log(seen[several])).mean(), attn.max(-1).mean(),
            np.nan if cross else attn[:, rows, rows].mean(), np.nan if cross else attn[:, rows[1:], rows[:-1]].mean(),
            attn[:, :, 0].mean()]


# name: heads, D, Dv, how the weights are stored, then what differs
CASES = {
    "parameters": dict(H=3, D=2, Dv=4, linear=False),
    "linear_biased": dict(H=3, D=2, Dv=2, linear=True, bias=True, causal=True, merged=True),
    "linear_wide_values": dict(H=2, D=4, Dv=7, linear=True, bias=False, merged=True),
    "square_as_wo_tells": dict(H=2, D=E, Dv=E, linear=True, bias=True, merged=True),
    "parameters_merged": dict(H=2, D=3, Dv=3, linear=False, merged=True),
    "cross": dict(H=2, D=3, Dv=2, linear=True, bias=True, context=9, merged=True),
    "one": dict(H=1, D=4, Dv=3, linear=True, bias=True),
}


def main():
    torch.set_default_dtype(torch.float64)
    shutil.rmtree(FOLDER, ignore_errors=True)
    for n, (name, case) in enumerate(CASES.items()):
        torch.manual_seed(100 + n)
        H, linear, bias = case["H"], case["linear"], case.get("bias", False)
        x = torch.randn(B, L, E, requires_grad=True)
        context = torch.randn(B, S, case["context"]) if "context" in case else x
        heads = nn.ModuleList(Head(E, context.shape[-1], case["D"], case["Dv"], linear, bias) for _ in range(H))
        attn, outs = zip(*(head(x, context, case.get("causal", False)) for head in heads))
        concat = torch.cat(outs, dim=-1)
        merge = None
        if case.get("merged"):
            merge = nn.Linear(concat.shape[-1], E) if linear else nn.Parameter(torch.rand(concat.shape[-1], E) - 0.4)
        out = concat if merge is None else merge(concat) if linear else concat @ merge
        out.sum().backward()

        bundle = FOLDER / name
        arrays = {"x": x}
        if context is not x:
            arrays["context"] = context
        if merge is not None:
            arrays.update({"wo": merge.weight, "bo": merge.bias} if linear else {"wo": merge})
        wanted = {"attn": torch.stack(attn, 1) if H > 1 else attn[0], "out": out, "grad_x": x.grad}
        wanted["statistics"] = torch.tensor([statistics(a, case.get("causal", False), context is not x) for a in attn])
        for role in ("wq", "wk", "wv"):
            for h, head in enumerate(heads):
                weight = getattr(head, role)
                arrays[f"heads/{h}/{role}"] = weight.weight if linear else weight
                if bias:
                    arrays[f"heads/{h}/b{role[1]}"] = weight.bias
            # Side by side: the columns of (in,out), the rows of (out,in).
            grads = [getattr(head, role).weight.grad if linear else getattr(head, role).grad for head in heads]
            wanted[f"grad_{role}"] = torch.cat(grads, dim=0 if linear else 1)
            if bias:
                wanted[f"grad_b{role[1]}"] = torch.cat([getattr(head, role).bias.grad for head in heads])
        for key, value in arrays.items():
            (bundle / key).parent.mkdir(parents=True, exist_ok=True)
            np.save(bundle / f"{key}.npy", value.detach().numpy())
        config = {"compute": "f64", **({"causal": True} if case.get("causal") else {})}
        (bundle / "config.json").write_text(json.dumps(config) + "\n")
        np.savez(FOLDER / f"{name}.npz", **{key: value.detach().numpy() for key, value in wanted.items()})


main()

#!/usr/bin/env python3
# train.py: trains the model of this example with PyTorch, in less than a minute on one CPU thread, and writes it to
# model/: a causal transformer of two layers over 26 letters. What float64 makes of test sequences goes to the folder that
# the first argument names.
import json
import math
import pathlib
import sys

import numpy as np
import torch
import torch.nn.functional as F

HERE = pathlib.Path(__file__).parent
LETTERS = "abcdefghijklmnopqrstuvwxyz"
V, E, H, D, FF, LAYERS, PLACES = 26, 32, 2, 16, 16, 2, 24
torch.set_num_threads(1)
torch.manual_seed(1)


def start():
    def matrix(rows, columns, std):
        return torch.nn.init.normal_(torch.empty(rows, columns), std=std).requires_grad_()

    ones, zeros = (lambda: torch.ones(E, requires_grad=True)), (lambda: torch.zeros(E, requires_grad=True))
    model = {"embedding": matrix(V, E, 0.5), "position": matrix(PLACES, E, 0.5), "final_norm_w": ones(),
             "final_norm_b": zeros(), "lm_head_w": matrix(V, E, 0.1), "layers": []}
    for _ in range(LAYERS):
        model["layers"].append({
            **{name: matrix(E, E, 1 / math.sqrt(E)) for name in ("wq", "wk", "wv", "wo")},
            "norm1_w": ones(), "norm1_b": zeros(), "norm2_w": ones(), "norm2_b": zeros(),
            "ff_w1": matrix(FF, E, 1 / math.sqrt(E)), "ff_w2": matrix(E, FF, 0.1)})
    return model


def forward(model, ids):
    """ids (B,L) -> logits (B,L,V) and the weights of each layer, (B,H,L,L)."""
    B, L = ids.shape
    x = model["embedding"][ids] + model["position"][:L]
    hidden = torch.ones(L, L, dtype=torch.bool).triu(1)
    maps = []
    for w in model["layers"]:
        n = F.layer_norm(x, (E,), w["norm1_w"], w["norm1_b"])
        q, k, v = ((n @ w[name].T).view(B, L, H, D).transpose(1, 2) for name in ("wq", "wk", "wv"))
        attn = (q @ k.transpose(2, 3) / math.sqrt(D)).masked_fill(hidden, -math.inf).softmax(-1)
        x = x + (attn @ v).transpose(1, 2).reshape(B, L, E) @ w["wo"].T
        n = F.layer_norm(x, (E,), w["norm2_w"], w["norm2_b"])
        x = x + torch.relu(n @ w["ff_w1"].T) @ w["ff_w2"].T
        maps.append(attn)
    return F.layer_norm(x, (E,), model["final_norm_w"], model["final_norm_b"]) @ model["lm_head_w"].T, maps


def sequences(generator, batch):
    """Different letters in a random order, of which a run of 5 to 11 comes once more right behind itself."""
    rows = []
    for _ in range(batch):
        again = int(torch.randint(5, 12, (1,), generator=generator))
        letters = torch.randperm(V, generator=generator)
        gap = int(torch.randint(0, PLACES - 2 * again + 1, (1,), generator=generator))
        row = torch.cat([letters[again:again + PLACES - 2 * again - gap], letters[:again], letters[:again]])
        rows.append(torch.cat([row, letters[again + PLACES - 2 * again - gap:][:gap]]))
    return torch.stack(rows)


def loss_of(logits, ids):
    """Only what has been seen before can be known: the letter after one that comes again."""
    known = torch.tensor([[row[l] in row[:l] and row[l + 1] in row[:l] for l in range(len(row) - 1)]
                          for row in ids.tolist()])
    return F.cross_entropy(logits[:, :-1][known], ids[:, 1:][known])


def parameters(model):
    return [p for part in [model, *model["layers"]] for p in part.values() if not isinstance(p, list)]


def train():
    model, generator = start(), torch.Generator().manual_seed(2)
    optimiser = torch.optim.Adam(parameters(model), lr=4e-3, betas=(0.9, 0.98))
    steps = 1500
    for step in range(steps):
        for group in optimiser.param_groups:
            group["lr"] = 4e-3 * min(1, step / 100, (steps - step) / (steps / 2))
        ids = sequences(generator, 64)
        loss = loss_of(forward(model, ids)[0], ids)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        if step % 250 == 0:
            print(step, round(float(loss), 4), flush=True)
    return model


def stored(tensor):
    """float16 on disk: small, and the model computes with exactly these numbers."""
    return tensor.detach().numpy().astype(np.float16)


def write(model, folder):
    for n, weights in enumerate(model["layers"]):
        (folder / "layers" / str(n)).mkdir(parents=True, exist_ok=True)
        for name, value in weights.items():
            np.save(folder / "layers" / str(n) / f"{name}.npy", stored(value))
    for name, value in model.items():
        if name != "layers":
            np.save(folder / f"{name}.npy", stored(value))
    (folder / "vocab.txt").write_text("".join(letter + "\n" for letter in LETTERS))
    (folder / "config.json").write_text(json.dumps(
        {"heads": H, "causal": True, "weight-order": "out-in", "norm": "pre", "activation": "relu",
         "per-char": True}) + "\n")


def exact(model):
    number = lambda tensor: torch.from_numpy(stored(tensor).astype(np.float64))
    return {name: [{key: number(value) for key, value in weights.items()} for weights in part] if name == "layers" else
            number(part) for name, part in model.items()}


def induction(maps, ids):
    """Mean weight, by layer and head, on the place after the last one where the same letter stood."""
    total, count = torch.zeros(LAYERS, H, dtype=torch.float64), 0
    for b, row in enumerate(ids.tolist()):
        for l, letter in enumerate(row):
            before = [s for s in range(l) if row[s] == letter]
            if before:
                total += torch.stack([attn[b, :, l, before[-1] + 1] for attn in maps])
                count += 1
    return total / count


if __name__ == "__main__":
    trained = train()
    write(trained, HERE / "model")
    ids = sequences(torch.Generator().manual_seed(3), 32)
    logits, maps = forward(exact(trained), ids)
    print("loss", float(loss_of(logits, ids)))
    print("weight on the place after the same letter, by layer and head", induction(maps, ids).tolist())
    before = [[float(attn[:, h].diagonal(-1, 1, 2).mean()) for h in range(H)] for attn in maps]
    print("weight on the place before, by layer and head", before)
    if len(sys.argv) > 1:
        folder = pathlib.Path(sys.argv[1])
        folder.mkdir(parents=True, exist_ok=True)
        np.save(folder / "ids.npy", ids.numpy())
        np.save(folder / "logits.npy", logits[:4].numpy())
        np.save(folder / "attn.npy", torch.stack(maps)[:, :4].numpy())

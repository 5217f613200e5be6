#!/usr/bin/env python3
# make_text.py: writes text/golden.json, what Python, NumPy and PyTorch in float64 make of texts, and the models in
# text/ with the probabilities in text/p/ that the tests of classify use.
import json
import math
import pathlib
import struct
import unicodedata

import numpy as np
import torch

FOLDER = pathlib.Path(__file__).parent / "text"
POINTS = range(0x110000)
torch.manual_seed(5)
rng = np.random.default_rng(20240611)


def ranges(wanted):
    """[first, last] of every run of wanted code points; those that Unicode has not assigned may lie in it."""
    found = []
    for point in POINTS:
        if wanted(chr(point)):
            if found and found[-1][2]:
                found[-1][1] = point
            else:
                found.append([point, point, True])
        elif found and unicodedata.category(chr(point)) != "Cn":
            found[-1][2] = False
    return [run[:2] for run in found]


# --- words: str.replace(), str.split() and sorted(), as the tutorials have them ---------------------------------------

TEXTS = ["Life is short, eat dessert first", "  two  blanks\tand\u00a0others\u3000here ", "Über größe, naïve café",
         "мир труд май, Мир", "¿Qué? ¡Sí! «oui» “yes” don't well-known 1,000.50", "a+b = c < d $5 ~x`y^z|",
         "سلام، دنیا؟", "नमस्ते दुनिया।", "🙂 smile 👩‍🚀 (space)", "one\u2028two\u0085three\x1cfour\x0bfive"]


def dropped(text, drop):
    if drop is None:
        return "".join(c for c in text if unicodedata.category(c)[0] != "P")
    for character in drop:
        text = text.replace(character, "")
    return text


SPLITS = [{"text": text, "drop": drop, "per_char": per_char,
           "tokens": [c for c in dropped(text, drop) if not c.isspace()] if per_char else dropped(text, drop).split()}
          for text in TEXTS for drop in (None, "", ",", "é'-") for per_char in (False, True)]


def sorted_case(texts):
    sentences = [dropped(text, None).split() for text in texts]
    vocabulary = sorted(set(sum(sentences, [])))
    return {"sentences": sentences, "vocabulary": vocabulary,
            "ids": [[vocabulary.index(token) for token in sentence] for sentence in sentences]}


VOCABULARIES = [sorted_case(texts) for texts in
                (TEXTS[:1], TEXTS[:4], TEXTS, ["b a B A b", "ｚ é z 𐀀 \ufb01 Z"])]

# --- a random table: SplitMix64, the polar method, and torch.nn.Embedding's N(0,1) ------------------------------------

M64 = (1 << 64) - 1


def normals(seed, name):
    state = seed

    def bits():
        nonlocal state
        state = (state + 0x9E3779B97F4A7C15) & M64
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & M64
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & M64
        return z ^ (z >> 31)

    tag = 0xCBF29CE484222325
    for letter in name.encode():
        tag = ((tag ^ letter) * 0x100000001B3) & M64
    state = bits() ^ tag
    while True:
        u, v = (2 * ((bits() >> 11) * 2.0 ** -53) - 1 for _ in range(2))
        s = u * u + v * v
        if 0 < s < 1:
            yield u * math.sqrt(-2 * math.log(s) / s)


def as_float32(number):
    return struct.unpack("f", struct.pack("f", number))[0]


TABLES = [{"V": V, "E": E, "seed": seed,
           "values": [as_float32(number) for number, _ in zip(normals(seed, "embedding"), range(V * E))]}
          for V, E, seed in ((6, 3, 0), (5, 4, 7), (1, 1, 2 ** 63 - 1))]


# --- positions and X --------------------------------------------------------------------------------------------------

def sinusoidal(L, E):
    """Vaswani et al. 2017, section 3.5, by the words of the paper: the sine at 2i, the cosine at 2i+1."""
    table = np.zeros((L, E))
    for position in range(L):
        for i in range((E + 1) // 2):
            angle = position / 10000 ** (2 * i / E)
            table[position, 2 * i] = math.sin(angle)
            if 2 * i + 1 < E:
                table[position, 2 * i + 1] = math.cos(angle)
    return table


POSITIONS = [{"L": L, "E": E, "values": sinusoidal(L, E).ravel().tolist()}
             for L, E in ((1, 1), (4, 6), (7, 5), (50, 8))]


def embedded(ids, table, positions):
    """A padded batch as torch.nn makes it, zeros behind the end of each sentence."""
    rows = [torch.nn.functional.embedding(torch.tensor(row), table) for row in ids]
    if positions is not None:
        rows = [row + positions[:len(row)] for row in rows]
    return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)


IDS = [[2, 0, 6, 1], [5], [3, 3, 4, 0, 6, 2]]
TABLE = torch.randn(7, 5, dtype=torch.float64)
LEARNED = torch.randn(9, 5, dtype=torch.float64)
EMBEDDED = [{"positions": name, "values": embedded(IDS, TABLE, positions).ravel().tolist()}
            for name, positions in (("none", None), ("sinusoidal", torch.tensor(sinusoidal(6, 5))),
                                    ("learned", LEARNED))]


# --- classifiers: torch.nn modules in float64, whose weights are written as the models of the tests --------------------

def save(folder, tensors, words, labels, config):
    folder.mkdir(exist_ok=True)
    for name, tensor in tensors.items():
        np.save(folder / f"{name}.npy", tensor.detach().numpy())
    (folder / "vocab.txt").write_text("".join(word + "\n" for word in words))
    (folder / "labels.txt").write_text("".join(label + "\n" for label in labels))
    if config:
        (folder / "config.json").write_text(json.dumps(config) + "\n")


def single_head(words, E, C):
    """One head whose weights are parameters, (in,out), without biases, positions or an output projection."""
    w = {name: torch.rand(E, width, dtype=torch.float64)
         for name, width in (("embedding", E), ("wq", 2), ("wk", 2), ("wv", 4))}
    w["embedding"] = torch.randn(len(words), E, dtype=torch.float64)
    fc = torch.nn.Linear(4, C, dtype=torch.float64)
    w.update(fc_w=fc.weight, fc_b=fc.bias)  # stored (C,E): nn.Linear

    def probabilities(ids):
        x = w["embedding"][ids]
        q, k, v = (x @ w[name] for name in ("wq", "wk", "wv"))
        return torch.softmax(fc((torch.softmax(q @ k.T / 2 ** 0.5, -1) @ v).mean(0)), -1)

    return w, probabilities


def multi_head(words, E, H, C, positions):
    """torch.nn.MultiheadAttention with its mean over the real tokens and a linear layer."""
    attention = torch.nn.MultiheadAttention(E, H, batch_first=True, dtype=torch.float64)
    torch.nn.init.normal_(attention.in_proj_bias)
    torch.nn.init.normal_(attention.out_proj.bias)
    fc = torch.nn.Linear(E, C, dtype=torch.float64)
    table = torch.nn.Embedding(len(words), E, dtype=torch.float64)
    w = {"embedding": table.weight, "wqkv": attention.in_proj_weight, "bqkv": attention.in_proj_bias,
         "wo": attention.out_proj.weight, "bo": attention.out_proj.bias, "fc_w": fc.weight.T.contiguous(),
         "fc_b": fc.bias}
    if positions is not None:
        w["position"] = positions

    def probabilities(ids, causal=False):
        """All sentences as one padded batch, so that padding is hidden by key_padding_mask."""
        lengths = torch.tensor([len(row) for row in ids])
        x = torch.nn.utils.rnn.pad_sequence([table(torch.tensor(row)) for row in ids], batch_first=True)
        L = x.shape[1]
        if positions is not None:
            x = x + positions[:L]
        padding = torch.arange(L)[None] >= lengths[:, None]
        hidden = torch.triu(torch.ones(L, L, dtype=torch.bool), 1) if causal else None
        out, _ = attention(x, x, x, key_padding_mask=padding, attn_mask=hidden, need_weights=False)
        mean = (out * ~padding[..., None]).sum(1) / lengths[:, None]
        return torch.softmax(fc(mean), -1)

    return w, probabilities


WORDS = sorted("Life is short eat dessert first then and sweet not never".split())
SENTENCES = [["Life", "is", "short"], ["eat"], ["never", "eat", "dessert", "first", "then", "and", "not"]]
WORD_IDS = [[WORDS.index(word) for word in sentence] for sentence in SENTENCES]


def record(name, rows):
    """The probabilities that a test's own classification is compared with."""
    (FOLDER / "p").mkdir(exist_ok=True)
    np.save(FOLDER / "p" / f"{name}.npy", torch.stack(list(rows)).numpy())


with torch.no_grad():
    w, probabilities = single_head(WORDS, 3, 3)
    save(FOLDER / "single", w, WORDS, ["joy", "grief", "hunger"], {})
    record("single", [probabilities(ids) for ids in WORD_IDS])  # each alone, without any padding
    w, probabilities = multi_head(["<unk>"] + WORDS, 8, 2, 4, None)
    save(FOLDER / "multi", w, ["<unk>"] + WORDS, ["a", "b", "c", "d"],
         {"heads": 2, "weight-order": "auto", "unk": "<unk>"})
    shifted = [[i + 1 for i in ids] for ids in WORD_IDS]
    record("multi", probabilities(shifted))
    record("multi-causal", probabilities(shifted, causal=True))
    record("multi-unknown", probabilities([[shifted[0][0], 0], shifted[1]]))
    w, probabilities = multi_head(WORDS, 8, 4, 2, torch.randn(9, 8, dtype=torch.float64))
    save(FOLDER / "learned", w, WORDS, ["no", "yes"], {"heads": 4})
    record("learned", probabilities(WORD_IDS))
    w, probabilities = multi_head(list("他们吃饭不"), 6, 3, 2, torch.tensor(sinusoidal(9, 6)))
    del w["position"]
    save(FOLDER / "per-char", w, "他们吃饭不", ["没", "有"],
         {"heads": 3, "per-char": True, "pos-encoding": "sinusoidal"})
    record("per-char", probabilities([["他们吃饭不".index(c) for c in text] for text in ("他们不吃饭", "吃")]))

golden = {
    "white_space": ranges(lambda c: c.isspace() or c == "\u200b"),
    "punctuation": ranges(lambda c: unicodedata.category(c)[0] == "P"),
    "unassigned": ranges(lambda c: unicodedata.category(c) == "Cn"),
    "splits": SPLITS,
    "vocabularies": VOCABULARIES,
    "tables": TABLES,
    "positions": POSITIONS,
    "embedded": {"ids": IDS, "table": TABLE.ravel().tolist(), "learned": LEARNED.ravel().tolist(), "cases": EMBEDDED},
}
lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(value, separators=(',', ':'))}" for key, value in golden.items())
(FOLDER / "golden.json").write_text("{" + lines + "}\n")

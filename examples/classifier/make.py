#!/usr/bin/env python3
# make.py: makes model/, a classifier of film reviews whose numbers are chosen by hand, so that each can be followed.
import pathlib

import numpy as np

folder = pathlib.Path(__file__).parent / "model"
folder.mkdir(exist_ok=True)

# Channels of the embedding: 1 for every word; says something; praises; blames.
WORDS = {"the": (1, 0, 0, 0), "film": (1, 0, 0, 0), "was": (1, 0, 0, 0), "and": (1, 0, 0, 0), "but": (1, 0, 0, 0),
         "great": (1, 1, 1, 0), "funny": (1, 1, 1, 0), "dull": (1, 1, 0, 1), "long": (1, 1, 0, 1)}
(folder / "vocab.txt").write_text("".join(f"{word}\n" for word in WORDS))
(folder / "labels.txt").write_text("praise\nblame\n")

arrays = {
    "embedding": list(WORDS.values()),
    # Every word asks (channel 0), and those that say something answer (channel 1): their score is 4*2/sqrt(1) = 8.
    "wq": [[4], [0], [0], [0]],
    "wk": [[0], [2], [0], [0]],
    # What is carried on is praise and blame, and of the head's two channels each is a class.
    "wv": [[0, 0], [0, 0], [1, 0], [0, 1]],
    "fc_w": [[3, 0], [0, 3]],
    "fc_b": [0, 0],
}
for name, numbers in arrays.items():
    np.save(folder / f"{name}.npy", np.array(numbers, np.float32))
(folder / "config.json").write_text('{"weight-order": "in-out"}\n')

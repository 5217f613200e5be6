# fused.py: the columns of a fused weight, in the orders that systems lay them out in.
import numpy as np


def unfused(columns, order, H, G):
    """(., (H+2G)*D) -> the columns of q, k and v."""
    blocks, r = np.split(columns, H + 2 * G, axis=-1), H // G
    if order == "per-head":  # H = G
        cut = blocks[0::3], blocks[1::3], blocks[2::3]
    elif order == "per-group":
        cut = ([blocks[g * (r + 2) + n] for g in range(G) for n in range(r)],
               [blocks[g * (r + 2) + r] for g in range(G)], [blocks[g * (r + 2) + r + 1] for g in range(G)])
    else:  # "blocks", or the names in the order in which they come
        found, at = {}, 0
        for name in "qkv" if order == "blocks" else order:
            count = H if name == "q" else G
            found[name], at = blocks[at:at + count], at + count
        cut = [found[name] for name in "qkv"]
    return [np.concatenate(part, axis=-1) for part in cut]

# Makes the tensors of the command-line cases: small, and each wrong in one way or in none.
# usage: python3 make.py, with NumPy; writes beside itself
import os
import zipfile

import numpy as np

os.chdir(os.path.dirname(os.path.abspath(__file__)))
random = np.random.default_rng(2)


def normal(name, *shape):
    np.save(name, random.standard_normal(shape).astype(np.float32))


# x (B,L,E) = (2,3,4) with weights; q, k, v of B=2, L=3, S=5, D=4, Dv=6.
normal("x.npy", 2, 3, 4)
normal("wq.npy", 4, 4)
normal("wk.npy", 4, 4)
normal("wv.npy", 4, 6)
normal("wk_wide.npy", 4, 6)
normal("wq_deep.npy", 8, 6)
normal("q.npy", 2, 3, 4)
normal("k.npy", 2, 5, 4)
normal("v.npy", 2, 5, 6)
normal("k_wide.npy", 2, 5, 8)
normal("v_long.npy", 2, 7, 6)
normal("k_one_batch.npy", 1, 5, 4)

# Two queries over three keys, whose weights and output are known from paper.
np.save("paper_q.npy", np.array([[1, 0], [0, 1]], np.float32))
np.save("paper_k.npy", np.array([[1, 0], [0, 1], [1, 1]], np.float32))
np.save("paper_v.npy", np.array([[1, 2], [3, 4], [5, 6]], np.float32))

# Masks for L=3, S=5, and such that fit nothing.
np.save("mask.npy", np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 0], [1, 1, 1, 1, 1]], bool))
np.save("mask_batch_keys.npy", np.ones((2, 5), bool))
np.save("mask_four_keys.npy", np.ones((3, 4), bool))
np.save("mask_four_rows.npy", np.ones((4, 5), bool))
np.save("mask_rank_5.npy", np.ones((1, 2, 1, 3, 5), bool))
np.save("mask_twos.npy", np.array([[1, 1, 1, 0, 2]] * 3, np.int64))
np.save("mask_words.npy", np.array([["yes", "no", "no", "no", "no"]] * 3))
np.save("mask_causal_hides.npy", np.triu(np.ones((4, 4), bool), 1))
np.save("padding.npy", np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], bool))
np.save("padding_transposed.npy", np.ones((5, 2), bool))
np.save("lengths.npy", np.array([3, 5], np.int64))
x = random.standard_normal((4, 4)).astype(np.float32)
np.save("x_4_4.npy", x)
x[2, 1] = np.nan
np.save("x_nan.npy", x)

# Files that are none, or hold what no tensor may.
np.save("objects.npy", np.array([{"a": 1}, None], object), allow_pickle=True)
np.save("records.npy", np.zeros(3, [("a", "<f4"), ("b", "<i4")]))
np.save("complex.npy", np.ones((2, 2), np.complex64))
with zipfile.ZipFile("pair.npz", "w") as archive:
    for name in ("x", "q"):
        archive.write(name + ".npy", zipfile.ZipInfo(name + ".npy").filename)


def header(name, text, data=b"\0" * 64):
    text = text.ljust(117) + "\n"
    with open(name, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode() + data)


header("absurd.npy", "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296, 4), }")
header("negative.npy", "{'descr': '<f4', 'fortran_order': False, 'shape': (-4, 4), }")
header("not_a_dict.npy", "['descr', '<f4', 'shape', (4, 4)]")
header("no_shape.npy", "{'descr': '<f4', 'fortran_order': False, }")

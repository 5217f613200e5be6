# Attention of two heads in NumPy, in float64: writes q, k, v and the result to compare with.
import numpy as np

random = np.random.default_rng(0)
B, H, L, S, D, Dv = 1, 2, 5, 7, 4, 3
q = random.standard_normal((B, H, L, D)).astype(np.float32)
k = random.standard_normal((B, H, S, D)).astype(np.float32)
v = random.standard_normal((B, H, S, Dv)).astype(np.float32)

scores = q.astype(np.float64) @ k.astype(np.float64).swapaxes(2, 3) / np.sqrt(D)
weights = np.exp(scores - scores.max(axis=3, keepdims=True))
weights /= weights.sum(axis=3, keepdims=True)

np.save("q.npy", q)
np.save("k.npy", k)
np.save("v.npy", v)
np.save("theirs.npy", weights @ v)

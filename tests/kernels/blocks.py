"""Random blocks of columns, and when two results are the same."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp


class Blocks:
    """Random blocks of columns, local rows and a narrow matrix."""

    def __init__(self, seed: int, *, empty: bool = False, degenerate: bool = False) -> None:
        rng = np.random.default_rng(seed)
        blocks, slots = int(rng.integers(1, 9)), int(rng.integers(0, 4))
        width = rng.integers(0 if empty else 1, 7, blocks)
        self.ptr = np.concatenate([[0], np.cumsum(width)]).astype(np.int64)
        n = int(self.ptr[-1])
        self.local = rng.normal(size=(slots, n)) * (rng.random((slots, n)) < 0.8)
        if degenerate and slots > 1:
            self.local[1] = 2.0 * self.local[0]  # dependent local rows
        self.d = rng.lognormal(0, 3 if degenerate else 1, n)
        self.theta = rng.lognormal(0, 1, (blocks, slots)) * (rng.random((blocks, slots)) < 0.7)
        if degenerate:
            self.theta[:] = 0.0
        rows = int(rng.integers(1, 8))
        self.narrow = sp.csc_array(sp.random(rows, n, 0.4, random_state=seed, format="csc"))
        self.slots, self.blocks, self.n, self.rows = slots, blocks, n, rows
        self.rng = rng


def same(a: np.ndarray, b: np.ndarray, tolerance: float = 1e-10) -> None:
    assert a.shape == b.shape
    finite = np.isfinite(b)
    assert np.array_equal(np.isfinite(a), finite)
    size = max(1.0, float(np.max(np.abs(b[finite]), initial=0.0)))
    assert np.max(np.abs(a[finite] - b[finite]), initial=0.0) <= tolerance * size

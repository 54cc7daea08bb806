"""Passes over copies of entries against their definitions in NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from walras.kernels import consensus_copies
from walras.kernels.block_prox import reference


@given(st.integers(0, 10**6))
@settings(max_examples=20, deadline=None)
def test_passes_over_copies_agree_with_their_definition(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, m = 30, 7
    ptr = np.append(0, np.cumsum(rng.integers(1, 4, n))).astype(np.int64)
    count = int(ptr[-1])
    row = rng.integers(0, m, count).astype(np.uint32)
    place = rng.permutation(m).astype(np.uint32)
    a, w, state = rng.normal(1, 1, count), rng.uniform(0.5, 2, count), rng.normal(0, 1, count)
    x, cost, s = rng.random(n), rng.normal(0, 1, n), rng.uniform(0.1, 1, n)
    lower, upper, price = np.zeros(n), rng.uniform(1, 2, n), rng.normal(0, 1, m)
    found: list[list[np.ndarray]] = []
    for kernel in (consensus_copies, reference):
        value, slope, v, u, used, z = (np.zeros(k) for k in (m, m, n, n, m, count))
        z[:] = state
        kernel.row_sums(ptr, row, a, w, state, x, lower, upper, price, value, slope)
        kernel.centres(ptr, state, w, 0.3, cost, s, v)
        kernel.priced_centres(ptr, row, place, a, price, x, 1.0 / s, cost, s, u)
        kernel.activities(ptr, row, place, a, x, used)
        norms = kernel.advance(ptr, row, a, w, z, x, lower, upper, price, 1.6)
        found.append([value, slope, v, u, used, z, np.array(norms)])
    for one, other in zip(*found, strict=True):
        assert one == pytest.approx(other, rel=1e-12, abs=1e-12)

"""Passes over blocks that choose from simplices, by definition."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from walras.kernels.simplices import activity_ranges, choices

SEEDS = st.integers(0, 100_000)


class Blocks:
    """Random blocks, some of whose entries stay at zero, over a matrix without negatives."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.blocks, self.rows = int(rng.integers(1, 9)), int(rng.integers(1, 7))
        width = rng.integers(1, 5, self.blocks)
        self.ptr = np.append(0, np.cumsum(width)).astype(np.int64)
        self.n = int(self.ptr[-1])
        self.entry = rng.permutation(self.n).astype(np.int64)
        self.closed = rng.random(self.n) < 0.3
        self.closed[self.ptr[:-1]] = False  # a choice is left to every block
        self.whole = rng.random(self.blocks) < 0.5
        self.size = rng.lognormal(0, 1, self.n)
        self.matrix = sp.csc_array(sp.random(self.rows, self.n, 0.5, random_state=seed))
        self.rng = rng

    def vertices(self, block: int) -> list[np.ndarray]:
        """What a block puts on the rows at each vertex of its simplex."""
        dense = self.matrix.toarray()
        places = range(self.ptr[block], self.ptr[block + 1])
        found = [dense[:, self.entry[k]] * self.size[k] for k in places if not self.closed[k]]
        return found if self.whole[block] else [*found, np.zeros(self.rows)]


@settings(max_examples=60)
@given(seed=SEEDS)
def test_rows_carry_the_extremes_of_the_vertices(seed: int) -> None:
    b = Blocks(seed)
    m = b.matrix
    least, most = activity_ranges(
        b.ptr, b.entry, b.closed, b.whole, b.size, m.indptr, m.indices, m.data, b.rows
    )
    vertices = [b.vertices(j) for j in range(b.blocks)]
    assert least == pytest.approx(sum(np.min(v, axis=0) for v in vertices), abs=1e-12)
    assert most == pytest.approx(sum(np.max(v, axis=0) for v in vertices), abs=1e-12)


@settings(max_examples=60)
@given(seed=SEEDS, threads=st.sampled_from([1, 2, 3]))
def test_a_block_takes_its_cheapest_entry(seed: int, threads: int) -> None:
    b = Blocks(seed)
    price = b.rng.normal(size=b.n)
    choice, lead = choices(b.ptr, price, b.closed, b.whole, threads)
    for j in range(b.blocks):
        places = [k for k in range(b.ptr[j], b.ptr[j + 1]) if not b.closed[k]]
        offers = sorted([(price[k], k) for k in places] + ([] if b.whole[j] else [(0.0, -1)]))
        assert choice[j] == offers[0][1]
        second = offers[1][0] if len(offers) > 1 else np.inf
        assert lead[j] == pytest.approx(second - offers[0][0])

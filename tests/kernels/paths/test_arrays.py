"""Hashes of paths and their columns of a matrix."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from tests.kernels.paths.graphs import SEEDS

from walras.kernels.paths.arrays import path_columns, path_keys


def test_keys_tell_paths_apart_by_their_nodes() -> None:
    source = np.array([0, 1, 0, 2, 0, 1], dtype=np.int32)
    pointer = np.array([0, 2, 4, 6])
    last = np.array([3, 3, 3], dtype=np.int32)
    keys = path_keys(pointer, source, last)
    assert keys[0] == keys[2] != keys[1]
    assert path_keys(pointer, source, last + np.int32(1))[0] != keys[0]


@given(seed=SEEDS)
def test_columns_hold_the_links_in_order(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 6, int(rng.integers(1, 6)))
    pointer = np.concatenate([[0], np.cumsum(sizes)])
    links = np.concatenate([rng.permutation(9)[:size] for size in sizes]).astype(np.int32)
    indptr = (pointer + 2 * np.arange(len(pointer))).astype(np.int32)
    indices = np.full(indptr[-1], -1, dtype=np.int32)
    path_columns(pointer, links, indptr, indices)
    for p, size in enumerate(sizes):
        column = indices[indptr[p] : indptr[p + 1]].tolist()
        assert column == [*sorted(links[pointer[p] : pointer[p + 1]].tolist()), -1, -1]
        assert len(column) == size + 2

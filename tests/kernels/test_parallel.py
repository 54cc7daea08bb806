"""Passes in threads: every block and every entry once."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from walras.kernels.parallel import few, map_entries, map_runs


@pytest.mark.parametrize("sizes", [[50, 1, 1], [1, 1, 50], [0, 0, 0], [0, 40, 0, 1], [3, 3, 3, 3]])
@pytest.mark.parametrize("threads", [1, 2, 3, 8])
def test_runs_are_told_apart_by_their_first_block(sizes: list[int], threads: int) -> None:
    ptr = np.concatenate(([0], np.cumsum(sizes)))
    seen: list[tuple[int, int]] = []
    map_runs(threads, lambda first, last: seen.append((first, last)), ptr)
    blocks = sorted(block for first, last in seen for block in range(first, last))
    assert blocks == list(range(len(sizes)))
    assert len({first for first, _ in seen}) == len(seen) <= threads


@pytest.mark.parametrize("count", [0, 1, 7, 250_001])
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_every_entry_is_in_one_run(count: int, threads: int) -> None:
    seen = np.zeros(count, dtype=np.int64)
    edges: list[tuple[int, int]] = []

    def work(first: int, last: int) -> None:
        seen[first:last] += 1
        edges.append((first, last))

    map_entries(threads, work, count)
    assert np.all(seen == 1)
    assert len(edges) == few(threads, count)


def test_the_last_run_is_the_callers() -> None:
    names: dict[int, int] = {}

    def work(first: int, _: int) -> None:
        names[first] = threading.get_ident()

    map_runs(2, work, np.array([0, 1, 2]))
    assert names[1] == threading.get_ident() != names[0]


def test_a_run_that_fails_is_an_error_of_the_caller() -> None:
    def work(first: int, _: int) -> None:
        if first == 0:
            raise ValueError("first run")

    with pytest.raises(ValueError, match="first run"):
        map_runs(2, work, np.array([0, 1, 2]))


@pytest.mark.parametrize(("columns", "threads"), [(0, 1), (99_999, 1), (200_000, 2), (10**7, 4)])
def test_cheap_passes_start_few_threads(columns: int, threads: int) -> None:
    assert few(4, columns) == threads

"""Every way in which shares can be wrong is named."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from walras.rounds import JobsSnapshot, Shares, check

SNAPSHOT = JobsSnapshot.of(
    ["a", "b"], size=[1, 2], speed=[[3.0, 1.0], [2.0, 0.0]], workers=[2, 1], types=("x", "y")
)


@pytest.mark.parametrize(
    ("time", "codes"),
    [
        ([[1.0, 0.0], [0.5, 0.0]], []),
        ([[np.nan, 0.0], [0.0, 0.0]], ["number"]),
        ([[-0.1, 0.0], [0.0, 0.0]], ["range"]),
        ([[0.7, 0.7], [0.0, 0.0]], ["time"]),
        ([[1.0, 0.0], [0.6, 0.0]], ["capacity"]),
        ([[0.0, 0.0], [0.0, 0.4]], ["speed"]),
        ([[0.0], [0.0]], ["shape"]),
    ],
)
def test_wrong_shares_are_named(time: Any, codes: list[str]) -> None:
    found = check(SNAPSHOT, SNAPSHOT.shares(time))
    assert [violation.code for violation in found] == codes


def test_other_names_notes_and_types_are_named() -> None:
    time = np.zeros((2, 2))
    swapped = Shares(("b", "a"), ("x", "y"), time)
    assert [v.code for v in check(SNAPSHOT, swapped)] == ["reference"]
    assert [v.code for v in check(SNAPSHOT, Shares(("a", "b"), ("y", "x"), time))] == ["reference"]
    noted = SNAPSHOT.shares(time, notes={"since": np.zeros(3)})
    assert [v.code for v in check(SNAPSHOT, noted)] == ["notes"]


@given(st.integers(0, 1000))
def test_scaled_shares_are_good(seed: int) -> None:
    """Any shares become good once they are scaled down to the workers and to all the time."""
    rng = np.random.default_rng(seed)
    n, t = 7, 3
    snapshot = JobsSnapshot.of(
        list("abcdefg"), size=rng.integers(1, 3, n), speed=np.ones((n, t)), workers=[2, 3, 4]
    )
    time = rng.random((n, t))
    time /= max(time.sum(axis=1).max(), (snapshot.size @ time / snapshot.workers).max())
    assert check(snapshot, snapshot.shares(time)) == []
    assert check(snapshot, snapshot.shares(time * 1.01)) != []


PAIRED = JobsSnapshot.of(
    ["a", "b", "c"],
    size=[1, 1, 2],
    speed=np.ones((3, 2)),
    workers=[1, 2],
    types=("x", "y"),
    group=[0, 1, 0],
    paired=[[[0.9, 0.9], [0.7, 0.0]], [[0.8, 0.5], [0.0, 0.0]]],
)


@pytest.mark.parametrize(
    ("pair", "time", "codes"),
    [
        ([[0, 1]], [[1.0, 0.0]], []),
        ([[1, 0]], [[0.5, 0.0]], []),
        ([[0, 1]], [[1.0]], ["shape"]),
        ([[0, 1, 2]], [[1.0, 0.0]], ["shape"]),
        ([[0, 3]], [[0.5, 0.0]], ["reference"]),
        ([[1, 1]], [[0.5, 0.0]], ["reference"]),
        ([[0, 1], [1, 0]], [[0.5, 0.0]] * 2, ["reference"]),
        ([[0, 1]], [[np.nan, 0.0]], ["number"]),
        ([[0, 1]], [[-0.5, 0.0]], ["range"]),
        ([[0, 1]], [[0.5, 0.2]], ["speed"]),  # no speed of b beside a on y
        ([[0, 2]], [[0.0, 0.2]], ["speed"]),  # of two sizes
    ],
)
def test_wrong_pairs_are_named(pair: Any, time: Any, codes: list[str]) -> None:
    shares = PAIRED.shares(np.zeros((3, 2)), pair=pair, pair_time=time)
    assert [violation.code for violation in check(PAIRED, shares)] == codes


def test_a_pair_takes_time_of_both_and_workers_once() -> None:
    alone = np.array([[0.0, 0.4], [0.0, 0.0], [0.0, 0.8]])
    shares = PAIRED.shares(alone, pair=[[0, 1]], pair_time=[[0.6, 0.0]])
    assert check(PAIRED, shares) == []
    too_long = PAIRED.shares(alone, pair=[[0, 1]], pair_time=[[0.7, 0.0]])
    assert [violation.code for violation in check(PAIRED, too_long)] == ["time"]
    alone[:, 0] = [0.0, 0.3, 0.0]
    too_many = PAIRED.shares(alone, pair=[[0, 1]], pair_time=[[0.6, 0.0]])
    assert check(PAIRED, too_many) == []
    alone[:, 0] = [0.0, 0.5, 0.0]
    too_many = PAIRED.shares(alone * [1, 0], pair=[[0, 1]], pair_time=[[0.6, 0.0]])
    assert {violation.code for violation in check(PAIRED, too_many)} == {"time", "capacity"}

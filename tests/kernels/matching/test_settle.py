"""Changes of a placement lower what is over and what is missing, and count it right."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from walras.kernels.matching.settle import Pairs, cool, settle

GOAL, PRICE = 5.4, 3.0


def drawn(seed: int, n: int = 7, m: int = 3) -> Pairs:
    """Each task looks at all clusters, in its own order; two deadlines."""
    rng = np.random.default_rng(seed)
    cluster = np.array([rng.permutation(m) for _ in range(n)], dtype=np.int32)
    work, excess = rng.uniform(1, 3, (n, m)), np.sort(rng.exponential(0.2, (n, m)), axis=1)
    excess -= excess[:, :1]
    excess[0, -1] = np.inf
    last = 0.45 * work.sum() / m * rng.uniform(1.5, 2.5, (m, 1))
    return Pairs(
        cluster,
        work,
        rng.uniform(0.5, 1.0, (n, m)),
        excess,
        np.zeros((n, m)),
        rng.integers(0, 2, n),
        np.concatenate([0.6 * last, last], axis=1),
        rng.uniform(0.5, 2.0, m),
    )


def left(pairs: Pairs, place: Any) -> float:
    """What is over and missing, by the definition."""
    rows, total = np.arange(len(place)), 0.0
    x, work = pairs.cluster[rows, place], pairs.work[rows, place]
    for i, (room, weight) in enumerate(zip(pairs.room, pairs.weight, strict=True)):
        for deadline, most in enumerate(room):
            due = work[(x == i) & (pairs.level <= deadline)].sum()
            total += weight * max(0.0, due - most)
    return float(total + PRICE * max(0.0, GOAL - pairs.chance[rows, place].sum()))


def allowed(pairs: Pairs) -> list[tuple[int, ...]]:
    n, width = pairs.cluster.shape
    every = itertools.product(range(width), repeat=n)
    return [x for x in every if np.isfinite(pairs.excess[np.arange(n), list(x)]).all()]


@pytest.mark.parametrize("seed", range(8))
def test_what_is_left_is_counted_right_and_never_rises(seed: int) -> None:
    pairs = drawn(seed)
    place = np.zeros(7, dtype=np.int32)
    before = left(pairs, place)
    assert settle(pairs, GOAL, PRICE, place.copy(), 0) == pytest.approx(before, abs=1e-12)
    after = settle(pairs, GOAL, PRICE, place, 50)
    assert after == pytest.approx(left(pairs, place), abs=1e-12)
    assert after <= before + 1e-12
    assert np.isfinite(pairs.excess[np.arange(7), place]).all()


def test_sweeps_leave_little_more_than_the_least_of_all_placements() -> None:
    settled, least, begun = 0.0, 0.0, 0.0
    for seed in range(12):
        pairs, place = drawn(seed), np.zeros(7, dtype=np.int32)
        begun += left(pairs, place)
        settled += settle(pairs, GOAL, PRICE, place, 50)
        least += min(left(pairs, x) for x in allowed(pairs))
    assert least <= settled + 1e-9
    assert settled - least <= 0.25 * (begun - least)


@pytest.mark.parametrize("seed", range(4))
def test_annealing_ends_near_the_least_with_the_excess(seed: int) -> None:
    pairs, place = drawn(seed), np.zeros(7, dtype=np.int32)

    def cost(x: Any) -> float:
        return left(pairs, x) + float(pairs.excess[np.arange(7), x].sum())

    found = cool(pairs, GOAL, PRICE, place, 1.0, 20_000, seed)
    assert found == pytest.approx(left(pairs, place), abs=1e-12)
    best = min(cost(np.array(x)) for x in allowed(pairs))
    assert best - 1e-9 <= cost(place) <= best + 0.05 * max(best, 0.2)
    again = np.zeros(7, dtype=np.int32)
    cool(pairs, GOAL, PRICE, again, 1.0, 20_000, seed)
    assert np.array_equal(place, again)

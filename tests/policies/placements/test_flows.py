"""Cheapest placements of equal tasks on slots, against every placement there is."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from walras.policies.placements.flows import cheapest_of
from walras.policies.placements.problem import Problem


def rounds_of(seed: int, *, grouped: bool = False) -> tuple[Problem, np.ndarray]:
    """Up to five tasks of one slot on up to three clusters, and a cost for each pair."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 6)), int(rng.integers(2, 4))
    room = rng.integers(1, 4, m)
    room[0] += max(0, n - int(room.sum()))
    group = np.zeros(m, int) if grouped else np.full(m, -1)
    group[0] = -1
    seconds = rng.uniform(1, 9, (n, m))
    problem = Problem(
        seconds=seconds,
        chance=np.ones((n, m)),
        size=np.ones(n, int),
        room=room,
        free=room,
        group=group,
        cap=np.array([1] if grouped else [], int),
        floor=0.0,
        weight=np.ones(m),
        start=np.zeros(n, int),
    )
    return problem, rng.uniform(0, 10, (n, m)).round(2)


@given(st.integers(0, 2**32 - 1), st.booleans())
def test_the_cheapest_placement_is_the_cheapest_of_all(seed: int, grouped: bool) -> None:
    problem, cost = rounds_of(seed, grouped=grouped)
    n, m = cost.shape
    best = np.inf
    for choice in product(range(m), repeat=n):
        x = np.array(choice, int)
        fits = np.all(np.bincount(x, minlength=m) <= problem.room)
        fits &= not grouped or (problem.group[x] == 0).sum() <= 1
        if fits:
            best = min(best, float(cost[np.arange(n), x].sum()))
    found = cheapest_of(problem, cost)
    if found is None:
        assert best == np.inf
        return
    assert cost[np.arange(n), found.cluster].sum() == pytest.approx(best)
    again = cheapest_of(problem, cost, found)
    assert again is not None
    assert cost[np.arange(n), again.cluster].sum() == pytest.approx(best)
    assert np.all(found.prices >= 0)

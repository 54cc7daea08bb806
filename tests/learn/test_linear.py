"""The linear ablation: placements of least total time, by enumeration."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from tests.matching.rounds import batch

from walras.errors import InputError
from walras.learn.linear import allowed, indicators, least_cost, place_linear, placements


def test_the_linear_ablation_enumerates_small_rounds_only() -> None:
    assert len(placements(3, 4)) == 81
    with pytest.raises(InputError, match=r"tasks_per_round.*placements"):
        placements(3, 15)


def test_indicators_say_which_task_is_on_which_cluster() -> None:
    flat = indicators(2, 3)
    assert flat.shape == (8, 6)
    for row, place in zip(flat.reshape(8, 2, 3), placements(2, 3), strict=True):
        assert row.argmax(axis=0).tolist() == place.tolist()
        assert row.sum() == 3.0


def test_placements_are_the_cheapest_that_meet_the_floor() -> None:
    times, success = batch(3, 8, 3, 4)
    floor = 0.85
    placed = place_linear(times, success, floor)
    for t, a, own in zip(times, success, placed, strict=True):
        every = [
            (t[list(x), range(4)].sum(), a[list(x), range(4)].mean())
            for x in product(range(3), repeat=4)
        ]
        reached = min(floor, max(mean for _, mean in every))
        best = min(total for total, mean in every if mean >= reached - 1e-12)
        assert t[own, range(4)].sum() == pytest.approx(best, rel=1e-12)
        assert a[own, range(4)].mean() >= reached - 1e-12


def test_where_no_placement_meets_the_floor_the_safest_is_allowed_alone() -> None:
    success = np.array([[[0.5, 0.6], [0.7, 0.2]]])
    assert placements(2, 2)[allowed(success, 0.99)[0]].tolist() == [[1, 0]]
    assert allowed(success, 0.0).all()
    costs = np.array([[[1.0, -2.0], [3.0, 4.0]]])
    assert placements(2, 2)[least_cost(costs, allowed(success, 0.0))].tolist() == [[0, 0]]

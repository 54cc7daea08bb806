"""Derivatives of an optimum by a bound, against optima with that bound moved."""

from __future__ import annotations

import numpy as np
import pytest
from tests.explain.rounds import cluster, cs, sharp, with_bound

from walras.explain.active import active
from walras.explain.sensitivity import Sensitivity


@pytest.mark.parametrize("seed", range(3))
def test_prices_and_activities_move_as_predicted(seed: int) -> None:
    problem = cs.proportional_fairness(*cluster(seed))
    s = sharp(problem)
    state = active(problem, s.certificate)
    system = Sensitivity.of(problem, s.certificate, state)
    step = 1e-3
    for row in range(3):
        if not state.rows[row]:
            continue
        move = system.move(row)
        assert move is not None
        bound = float(problem.rows.upper[row])
        ahead, behind = (sharp(with_bound(problem, row, bound + h)) for h in (step, -step))
        slope = (ahead.prices.rows[row] - behind.prices.rows[row]) / (2 * step)
        assert move.price == pytest.approx(slope, rel=1e-2, abs=1e-4)
        change = problem.rows.matrix @ (ahead.entries - behind.entries) / (2 * step)
        utility = problem.rows.is_utility
        np.testing.assert_allclose(move.activity[utility], change[utility], rtol=1e-2, atol=1e-3)
        assert move.activity[row] == pytest.approx(1.0, abs=1e-6)


def test_a_linear_price_does_not_move_within_its_range() -> None:
    problem = cs.total_throughput(*cluster(1))
    s = sharp(problem)
    state = active(problem, s.certificate)
    system = Sensitivity.of(problem, s.certificate, state)
    row = int(np.flatnonzero(state.rows[:3])[0])
    move = system.move(row)
    assert move is not None
    assert move.price == pytest.approx(0.0, abs=1e-9)
    reach = 0.5 * min(system.reach(move, 1.0), 1.0)
    moved = sharp(with_bound(problem, row, float(problem.rows.upper[row]) + reach))
    assert moved.prices.rows[row] == pytest.approx(s.prices.rows[row], rel=1e-6)

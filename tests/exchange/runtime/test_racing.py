"""HiGHS beside ours: its value and bound close around the optimum; nonlinear rounds are left."""

from __future__ import annotations

import numpy as np
import pytest

import walras as wl
from walras.domains import cluster_scheduling as cs
from walras.domains.cluster_scheduling.rounds import dede_like
from walras.exchange.runtime.racing import Point, run_highs

ROUND = dede_like(8, 60, seed=1)
GIVEN = (ROUND.throughput, ROUND.size, ROUND.capacity)


@pytest.mark.parametrize("state", [cs.max_min, cs.total_throughput])
def test_it_ends_at_the_optimum_and_every_bound_is_above_it(state: object) -> None:
    problem = state(*GIVEN)  # type: ignore[operator]
    best = wl.solve(problem, tolerance=1e-9).value
    found = run_highs(problem, 60.0, lambda points: False)
    assert found is not None
    assert found.status == "Optimal"
    assert found.value == pytest.approx(best, rel=1e-7)
    assert found.points[-1] == (found.seconds, found.value, found.value)
    bounds = [bound for _, _, bound in found.points if bound is not None]
    values = [value for _, value, _ in found.points if value is not None]
    assert min(bounds) >= best - 1e-5 * abs(best), "a bound is none before it is dual feasible"
    assert max(values) <= best + 1e-5 * abs(best), "a value is none before it is feasible"
    assert np.all(np.diff([seconds for seconds, _, _ in found.points]) >= 0.0)


def test_it_stops_when_asked_and_has_no_value_of_an_infeasible_point(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("walras.exchange.runtime.racing._PAUSE", 0.0)
    heard: list[Point] = []

    def on_points(points: list[Point]) -> bool:
        heard[:] = points
        return True

    found = run_highs(cs.max_min(*GIVEN), 60.0, on_points)
    assert found is not None
    assert found.status != "Optimal"
    assert found.value is None or found.points[-1][1] == found.value


def test_an_objective_that_is_not_linear_is_not_run() -> None:
    assert run_highs(cs.proportional_fairness(*GIVEN), 60.0, lambda points: False) is None

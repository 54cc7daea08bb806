"""The objective's unit: steep powers of activities far from one."""

from __future__ import annotations

import numpy as np
import pytest

import walras as wl
from walras.domains import cluster_scheduling as cs
from walras.engines.interior.objective_scaling import scale_objective, unit_of_objective


@pytest.mark.parametrize("unit", [1e-7, 1e7])
@pytest.mark.parametrize("alpha", [2.0, 20.0])
def test_units_of_throughput_do_not_matter(unit: float, alpha: float) -> None:
    rng = np.random.default_rng(4)
    speed, size, capacity = rng.integers(1, 9, (3, 6)), rng.integers(1, 5, 6), [5, 2, 3]
    plain = wl.solve(cs.alpha_fair(speed, size, capacity, alpha=alpha), engine="interior")
    scaled = cs.alpha_fair(unit * speed, size, capacity, alpha=alpha)
    assert (unit_of_objective(scaled) != 1.0) == (alpha > 10.0)
    found = wl.solve(scaled, engine="interior")
    assert found.status == "optimal"
    assert found.value == pytest.approx(plain.value * unit ** (1.0 - alpha), rel=3e-6)
    last = found.history[-1]
    assert last.value == pytest.approx(found.value, rel=1e-3)
    again = wl.solve(scaled, engine="interior", start=found)
    assert again.status == "optimal"
    assert len(again.history) <= len(found.history) + 1


def test_in_worth_everything_that_is_worth_something_is_scaled() -> None:
    round_ = [[4.0, 8.0]], [1, 1], [1]
    problem = cs.alpha_fair(*round_, alpha=20.0, previous=np.full((1, 2), 0.1), churn=0.5)
    scaled = scale_objective(problem, 4.0)
    np.testing.assert_array_equal(scaled.cost, problem.cost / 4.0)
    np.testing.assert_array_equal(scaled.rows.weight, problem.rows.weight / 4.0)
    assert scaled.constant == problem.constant / 4.0
    assert scale_objective(problem, 1.0) is problem

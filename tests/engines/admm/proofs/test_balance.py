"""Balancing: feasible, and never worse than scaling down alone."""

from __future__ import annotations

import numpy as np
import pytest
from tests.engines.admm.test_admm import cluster

import walras as wl
from walras.certificate import minimised_value, repair, violation
from walras.engines.admm.proofs.balance import Balance

cs = wl.domains.cluster_scheduling


@pytest.mark.parametrize("objective", [cs.max_min, cs.proportional_fairness, cs.total_throughput])
@pytest.mark.parametrize("noise", [0.1, 0.5])
def test_a_disturbed_optimum_is_worth_more_balanced(objective: object, noise: float) -> None:
    problem = cluster(objective, 10, 50)
    s = wl.solve(problem, engine="exact", tolerance=1e-6)
    rng = np.random.default_rng(1)
    x = s.entries * rng.lognormal(0.0, noise, problem.entries)
    plain, t = repair(problem, x, s.scalars)
    full, u = repair(problem, Balance(problem)(x, s.scalars), s.scalars)
    assert violation(problem, full, u) <= 1e-9
    assert minimised_value(problem, full, u) < minimised_value(problem, plain, t)


def test_entries_that_cost_are_not_grown() -> None:
    problem = cluster(cs.total_throughput, 4, 10)
    turned = wl.Separable(**{**problem.__dict__, "cost": np.abs(problem.cost)})
    x = np.full(problem.entries, 1e-3)
    assert np.all(Balance(turned)(x, np.zeros(0)) <= x)


def test_one_scarce_row_is_filled_exactly() -> None:
    problem = cs.total_throughput(np.array([[1.0, 1.0]]), [1.0, 1.0], [1.0])
    for x in ([0.9, 0.6], [0.1, 0.2], [0.01, 0.001]):
        assert np.sum(Balance(problem)(np.array(x), np.zeros(0))) == pytest.approx(
            min(1.0, 64.0 * sum(x)), rel=1e-12
        )

"""The state of a solve outside the slices: its point in the caller's order, and its residuals."""

from __future__ import annotations

import numpy as np
import pytest
from tests.engines.admm.proofs.points import standing_at
from tests.engines.admm.test_admm import OBJECTIVES, cluster

from walras.engines.admm.schemes import Splitting


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("slices", [1, 3])
def test_a_point_comes_back_in_the_callers_order(objective: object, slices: int) -> None:
    problem = cluster(objective, 4, 9)
    rng = np.random.default_rng(0)
    x, t = rng.random(problem.entries), rng.random(problem.scalars)
    prices = rng.random(problem.rows.count)
    with standing_at(problem, x, t, prices, slices=slices) as (method, _):
        for found, known in zip(method.point(), (x, t, prices), strict=True):
            np.testing.assert_array_equal(found, known)


def test_residuals_fall_and_a_rescaled_penalty_keeps_the_multipliers() -> None:
    problem = cluster(OBJECTIVES[2], 4, 9)
    zero = np.zeros(problem.entries), np.zeros(0), np.zeros(problem.rows.count)
    scheme = Splitting(1.6)
    with standing_at(problem, *zero) as (method, _):
        assert method.residuals.primal == np.inf
        found = []
        for _ in range(300):
            scheme.iterate(method)
            found.append(method.residuals.primal)
        method.measure_change()
        assert found[-1] < 1e-2 * max(found[:10])
        assert (method.count, method.seen) == (300, 300)
        rho, before = method.rho, method.point()[2]
        method.rescale(4.0)
        assert method.rho == 4.0 * rho
        method.set_prox_centre()
        method.solve_demands()
        method.solve_rows()
        after = method.point()[2]
        assert np.abs(after - before).max() <= 0.05 * np.abs(before).max()


def test_a_scalar_is_capped_by_a_value_that_is_good_enough() -> None:
    problem = cluster(OBJECTIVES[0], 4, 9)
    zero = np.zeros(problem.entries), np.zeros(1), np.zeros(problem.rows.count)
    with standing_at(problem, *zero) as (method, _):
        for value, most in ((-0.5, 0.5), (-0.25, 0.25), (-9.0, 0.25)):
            method.settle_for(value)
            for _ in range(20):
                method.set_prox_centre()
                method.solve_demands()
                assert method.t <= most + 1e-12
                method.solve_rows()
                method.advance(1.6)
        assert method.scalar == method.t

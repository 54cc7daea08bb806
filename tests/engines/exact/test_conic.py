"""Cones of every utility: conditions of optimality, retries and limits of Clarabel."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.bank.random_problems import build
from tests.engines.exact.problems import CALM, SMOOTH, curved

from walras.certificate import certify
from walras.certificate.certify import minimised_value
from walras.engines.exact.engine import Exact
from walras.separable import Separable, Utility, utility
from walras.status import Status


def stationarity(problem: Separable, x: np.ndarray, prices: np.ndarray) -> np.ndarray:
    """What is left of the reduced costs after the bounds that x meets have taken their part."""
    reduced = problem.cost + problem.quadratic * x + problem.rows.matrix.T @ prices
    reduced = np.where(x <= problem.lower + 1e-5, np.minimum(reduced, 0), reduced)
    return np.where(x >= problem.upper - 1e-5, np.maximum(reduced, 0), reduced)


@pytest.mark.parametrize(("kind", "a"), SMOOTH, ids=lambda v: getattr(v, "name", str(v)))
def test_conditions_of_optimality_hold_for_every_utility(kind: Utility, a: float) -> None:
    problem = curved(kind, a)
    found = Exact().solve(problem, CALM)
    assert found.status is Status.OPTIMAL
    rows = problem.rows
    y = rows.matrix @ found.x
    assert found.history[-1].value == pytest.approx(
        minimised_value(problem, found.x, found.t), rel=1e-4, abs=1e-4
    )
    slope = utility.slope(rows.utility, rows.weight, rows.parameter, y)[:4]
    assert found.prices[:4] == pytest.approx(slope, rel=2e-4, abs=1e-6)
    scale = np.max(np.abs(found.prices)) * np.max(rows.matrix.data)
    assert np.max(np.abs(stationarity(problem, found.x, found.prices))) <= 1e-6 * scale
    assert found.prices[4] >= -1e-8
    assert found.prices[5] <= 1e-8
    proof = certify(problem, found.x, found.t, found.prices)
    assert proof.gap <= 1e-6
    assert proof.feasible


def test_where_long_steps_get_stuck_shorter_ones_do_not() -> None:
    problem = build(Utility.POWER, 1, 5, 31)
    found = Exact().solve(problem, CALM)
    assert found.message == "Clarabel: Solved"
    elapsed = [step.elapsed for step in found.history]
    assert elapsed == sorted(elapsed)
    assert certify(problem, found.x, found.t, found.prices).gap <= 1e-6
    long = Exact(retry_step_fraction=0.99)
    assert long.solve(problem, CALM).message == "Clarabel: InsufficientProgress"


@pytest.mark.parametrize("kind", [Utility.LOG, Utility.QUADRATIC])
def test_running_out_of_iterations_is_no_limit_of_the_users(kind: Utility) -> None:
    found = Exact().solve(build(kind, 1, 5, 31), replace(CALM, max_iterations=2))
    assert found.status is Status.INACCURATE
    assert found.message == "Clarabel: MaxIterations"


def test_a_time_limit_of_clarabel_counts_from_the_statement_of_the_cones() -> None:
    found = Exact().solve(curved(Utility.LOG, 0.0), replace(CALM, time_limit=10.0))
    assert found.history[0].elapsed >= found.timings.build > 0.0

"""The loop ends at the optimum, at its limits, or when the watcher says so."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog
from tests.bank.statement import Entry, Row, state
from tests.engines.interior.solved import OBJECTIVES, cluster, cs, loop

import walras as wl
from walras.engines.interior.loop import gap_scale
from walras.separable import Separable


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_converged_point_has_the_value_of_another_engine(objective: Any) -> None:
    problem = cluster(objective)
    _, found = loop(problem)
    assert found.converged
    assert not found.stopped
    wanted = wl.solve(problem, engine="exact", tolerance=1e-9, threads=1)
    value = found.residuals.value
    assert problem.reported(value) == pytest.approx(wanted.value, rel=1e-6)
    assert max(found.residuals.primal_error, found.residuals.dual_error) <= 1e-8


def test_a_program_of_its_own_has_scipys_optimum() -> None:
    problem = state(
        [Entry(0, 0, 1.0), Entry(0, 1, 2.0), Entry(1, 1, 0.5, upper=3.0)],
        [
            Row("least[d0]", {0: 1.0, 2: 1.0}, lower=2.0),
            Row("all[d1]", {1: 1.0, 2: 2.0}, lower=4.0, upper=4.0),
        ],
    )
    _, found = loop(problem)
    best = linprog(
        [1.0, 2.0, 0.5],
        A_ub=[[-1.0, 0.0, -1.0]],
        b_ub=[-2.0],
        A_eq=[[0.0, 1.0, 2.0]],
        b_eq=[4.0],
        bounds=[(0, None), (0, None), (0, 3)],
    )
    assert found.converged
    assert found.residuals.value == pytest.approx(best.fun, rel=1e-6)


def test_the_watcher_sees_gaps_that_fall_and_may_stop() -> None:
    gaps: list[float] = []

    def on_iteration(k: int, _residuals: Any, gap: float, _step: float, _point: Any) -> bool:
        assert k == len(gaps)
        gaps.append(gap)
        return k == 3

    _, found = loop(cluster(cs.max_min), on_iteration=on_iteration)
    assert (found.stopped, found.converged, found.iterations) == (True, False, 3)
    assert gaps[-1] < gaps[0]


@pytest.mark.parametrize(("most", "deadline", "stopped"), [(2, np.inf, False), (60, 0.0, True)])
def test_limits_end_the_loop(most: int, deadline: float, stopped: bool) -> None:
    _, found = loop(cluster(cs.max_min), most=most, deadline=deadline)
    assert not found.converged
    assert found.stopped is stopped
    assert found.iterations <= most


def infeasible() -> Separable:
    """x >= 2 and x <= 1: the loop gives up before its last iteration."""
    return state(
        [Entry(0, 0, 1.0)],
        [Row("least[d0]", {0: 1.0}, lower=2.0), Row("most[r0]", {0: 1.0}, upper=1.0)],
    )


def test_a_problem_without_an_answer_does_not_converge() -> None:
    _, found = loop(infeasible(), most=200)
    assert not found.converged
    assert found.iterations < 200


def test_the_scale_of_a_gap_is_the_objective_or_what_the_problem_says() -> None:
    problem = cluster(cs.total_throughput)
    form, found = loop(problem)
    wanted = problem.gap_scale or abs(found.residuals.value)
    assert gap_scale(form, found.residuals) == pytest.approx(wanted)

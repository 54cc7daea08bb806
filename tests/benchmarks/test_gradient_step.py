"""One gradient step: the judge by finite differences, methods by the judge, and the target."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from benchmarks.cases import gradient_step
from benchmarks.cell import Cell
from benchmarks.gradients import OBJECTIVE, judge_gradient, reference, scales, upstream
from benchmarks.matching import MatchInstance, MatchSpec, build_match
from benchmarks.measure import measure

ELASTIC = MatchSpec(3, 5, 3, temperature=0.1, barrier="elastic")
TINY = {"elastic": ELASTIC, "log": replace(ELASTIC, barrier="log")}


@pytest.mark.parametrize("barrier", TINY)
def test_the_judges_gradients_are_central_differences(barrier: str) -> None:
    given, step = build_match(TINY[barrier]), 1e-5
    unit = scales(given)
    _, by_times, by_success = reference(given)

    def pulled(changed: MatchInstance) -> np.ndarray:
        return np.asarray((upstream(given) * reference(changed)[0]).sum(axis=(1, 2)))

    for i, j in ((0, 1), (2, 4)):
        nudge = np.zeros(given.times.shape)
        nudge[:, i, j] = step
        # The scale is held fixed: moving the mean of the times would move it.
        ends = [
            pulled(replace(given, success=given.success + sign * nudge)) for sign in (1.0, -1.0)
        ]
        slope = (ends[0] - ends[1]) / (2 * step)
        assert slope == pytest.approx(by_success[:, i, j], abs=1e-6 * abs(by_success).max())
        fixed = [_at_scale(replace(given, times=given.times + s * nudge), unit) for s in (1, -1)]
        slope = ((fixed[0] - fixed[1]) * upstream(given)).sum(axis=(1, 2)) / (2 * step)
        assert slope == pytest.approx(by_times[:, i, j], abs=1e-6 * abs(by_times).max())


def _at_scale(given: MatchInstance, unit: np.ndarray) -> np.ndarray:
    """The matchings of times counted in another instance's scale, by the library."""
    from walras.matching import Smoothing, relaxed_match

    smoothing = Smoothing(given.temperature, barrier=given.barrier)
    found = relaxed_match(given.times, given.success, given.floor, smoothing, scale=unit)
    return np.asarray(found.x.numpy())


def test_a_wrong_answer_is_told_by_how_much() -> None:
    given = build_match(ELASTIC)
    right = reference(given)
    assert judge_gradient(given, right).violation == 0.0
    for part in range(3):
        wrong = right.copy()
        wrong[part] *= 1.1
        verdict = judge_gradient(given, wrong)
        assert verdict.violation == pytest.approx(0.1)
        assert max(verdict.utilities) == verdict.violation
    one = right.copy()
    one[1, 2] += np.abs(right[1]).max()
    assert judge_gradient(given, one).utilities == pytest.approx((0.0, 0.0, 1.0))
    assert not np.isfinite(judge_gradient(given, right * np.nan).violation)


@pytest.mark.parametrize("barrier", TINY)
def test_our_step_is_the_judges(barrier: str) -> None:
    record = measure(Cell("test", TINY[barrier], OBJECTIVE, "walras-gradient", 5.0, runs=1))
    assert record["status"] == "ran", record["message"]
    assert record["violation"] <= 1e-8
    assert 0.0 < record["numbers"]["forward"] < record["solve"]


@pytest.mark.peer("cvxpylayers", "torch")
@pytest.mark.parametrize("barrier", TINY)
def test_cvxpylayers_solves_the_same_problem(barrier: str) -> None:
    record = measure(Cell("test", TINY[barrier], OBJECTIVE, "cvxpylayers-lpgd", 5.0, runs=1))
    assert record["status"] == "ran", record["message"]
    assert np.median(record["lowest"]) <= 0.05  # differences of matchings, of three rounds


def _record(solve: float, *errors: float) -> dict[str, Any]:
    return {"status": "ran", "solve": solve, "violation": max(errors), "lowest": list(errors)}


def _target(**records: dict[str, Any]) -> Any:
    cells = {cell.method: cell.name for cell in gradient_step.BENCHMARK.cells}
    named = {cells[method.replace("_", "-")]: record for method, record in records.items()}
    return gradient_step.targets(named)[0]


def test_the_quicker_way_of_the_peer_counts_and_its_errors_are_reported() -> None:
    ours, wrong = _record(0.1, 1e-9), _record(40.0, 0.8, 0.9)
    right = _record(11.0, *[1e-3] * 39, 5.0)  # breaks down on one of forty rounds
    assert _target(walras_gradient=ours, cvxpylayers=wrong).met is None
    found = _target(walras_gradient=ours, cvxpylayers=wrong, cvxpylayers_lpgd=right)
    assert found.met is True
    assert "110x cvxpylayers-lpgd" in found.measured
    assert "cvxpylayers-lpgd: 11.0 s, right to 1 % on 39 of the rounds" in found.measured
    assert "cvxpylayers: 40.0 s, right to 1 % on 0 of the rounds" in found.measured
    quick = _record(5.0, 0.9)
    assert _target(walras_gradient=ours, cvxpylayers=quick, cvxpylayers_lpgd=right).met is False
    off = _record(0.1, 1e-3)
    assert _target(walras_gradient=off, cvxpylayers=wrong, cvxpylayers_lpgd=right).met is False

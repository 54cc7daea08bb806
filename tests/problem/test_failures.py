"""What a solve outside the form honours, and what a failed solve leaves behind."""

from __future__ import annotations

import logging
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import walras as wl
from walras.problem import conic


def outside(least: float = 0.0) -> tuple[cp.Variable, wl.Problem]:
    x = cp.Variable(3, name="x")
    return x, wl.Problem(cp.Minimize(cp.norm(x)), [cp.sum(x) >= least])


@pytest.mark.parametrize("least", [0.0, 1.0])
def test_outside_the_form_an_optimum_of_zero_is_proved_too(least: float) -> None:
    x, p = outside(least)
    s = p.solve(threads=1)
    assert s.status == "optimal"
    assert s.value == pytest.approx(least / np.sqrt(3), abs=1e-7)
    assert x.value == pytest.approx(np.full(3, least / 3), abs=1e-6)


@pytest.mark.parametrize(
    "setting",
    [
        {"tolerance": -1.0},
        {"tolerance": 2.0},
        {"time_limit": -1.0},
        {"threads": 0},
        {"start": "yesterday"},
        {"on_progress": 3},
        {"parts": 4},
        {"seed": 1},
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore:solve.* is now an option:DeprecationWarning")
def test_settings_are_checked_outside_the_form_too(setting: dict[str, Any]) -> None:
    x, p = outside(1.0)
    p.solve(threads=1)
    with pytest.raises(wl.InputError, match=f"{next(iter(setting))}"):
        p.solve(**setting)
    assert (p.status, p.value, p.solution, x.value) == (None, None, None, None)


def test_what_cannot_be_honoured_outside_the_form_is_logged(
    caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    _, p = outside(1.0)
    with caplog.at_level(logging.WARNING, "walras"):
        first = p.solve(threads=1)
        assert not caplog.messages
        p.solve(threads=1, start=first, on_progress=lambda _: True, verbose=True, polish=True)
    ignored = [text.split(" is not used")[0] for text in caplog.messages]
    assert ignored == ["start", "polish", "on_progress"]
    assert "Clarabel" in capfd.readouterr().out


def test_a_point_outside_the_constraints_is_a_failure_not_a_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # As where no point inside the constraints is found.
    monkeypatch.setattr(conic, "_inner_point", lambda program: None)
    z = cp.Variable((20, 60), nonneg=True)
    rates = np.random.default_rng(0).uniform(1, 2, 60)
    p = wl.Problem(
        cp.Minimize(cp.log_sum_exp(-cp.sum(z, axis=0))), [z @ rates <= 1, cp.sum(z) >= 2]
    )
    s = p.solve(time_limit=0.0, threads=1)
    assert s.certificate.violation > 1e-9
    assert (s.status, p.status) == ("solver_error", "solver_error")
    assert "Clarabel through cvxpy ended with MaxTime" in s.message
    assert f"breaks {str(p.constraints[1])[:8]}" in s.message
    assert "engine='exact'" not in s.status.message + s.message
    assert p.value is None
    assert z.value is None


def test_a_limit_of_a_microsecond_leaves_a_feasible_point_and_a_bound() -> None:
    x = cp.Variable((4, 9), nonneg=True)
    speeds = np.linspace(0.5, 2.0, 36).reshape(4, 9)
    got = cp.sum(cp.multiply(speeds, x), axis=0)
    p = wl.Problem(
        cp.Maximize(cp.geo_mean(got, approx=False)),
        [cp.sum(x, axis=1) <= 1, cp.sum(x, axis=0) <= 1],
    )
    s = p.solve(time_limit=1e-6, threads=1)
    assert s.status is wl.Status.LIMIT
    assert s.certificate.feasible
    assert s.bound_source == "prices"
    assert np.isfinite(s.gap)  # what the intervals of x imply
    assert x.value is not None
    assert np.all(x.value.sum(axis=0) <= 1 + 1e-9)
    assert s.value <= p.solve(threads=1).value <= s.bound


def test_a_failed_solve_leaves_no_old_values() -> None:
    cap = cp.Parameter(value=1.0)
    x = cp.Variable(3, nonneg=True, name="x")
    limits = [cp.sum(x) <= cap, x[0] + x[1] >= 0.5]
    p = wl.Problem(cp.Maximize(cp.sum(x)), limits)
    p.solve(threads=1)
    assert (p.status, x.value is None) == ("optimal", False)
    cap.value = 0.1
    with pytest.raises(wl.InfeasibleError):
        p.solve(threads=1)
    assert (p.status, p.value, x.value, limits[0].dual_value) == ("infeasible", None, None, None)
    cap.value = 1.0
    p.solve(threads=1)
    with pytest.raises(wl.InputError):
        p.solve(engine="nonsense")
    assert (p.status, p.value, x.value) == (None, None, None)


def test_an_unbounded_problem_names_the_users_entries() -> None:
    x = cp.Variable((2, 3), nonneg=True, name="x")
    bounded = [x[i, j] <= 1 for i in range(2) for j in range(3) if (i, j) != (1, 0)]
    with pytest.raises(wl.UnboundedError) as caught:
        wl.Problem(cp.Maximize(cp.sum(x)), bounded).solve(threads=1)
    assert caught.value.where == "x[1, 0]"


def test_outside_the_form_the_report_blames_the_form_not_dpp() -> None:
    x = cp.Variable(3)
    p = wl.Problem(cp.Minimize(cp.norm(x)), [cp.sum(x) >= cp.Parameter(value=1.0)])
    text = str(p.report())
    assert "1 parameter: solving again repeats cvxpy's chain, as always outside" in text
    assert "DPP" not in text


def test_outside_the_form_entries_have_the_users_names_and_nothing_is_explained() -> None:
    x, y = cp.Variable((2, 2), name="x"), cp.Variable(name="y")
    problem = wl.Problem(cp.Maximize(cp.sum(x) + y), [cp.norm(x, "fro") <= 1, y <= 1])
    s = problem.solve()
    assert list(s.frame().index) == ["x[0, 0]", "x[1, 0]", "x[0, 1]", "x[1, 1]", "y"]
    with pytest.raises(wl.InputError, match="no demands to explain"):
        s.explain(0)
    with pytest.raises(wl.InputError, match="no resources"):
        s.worth()
    assert str(problem.report()).startswith("maximize a linear objective\n")
    bent = wl.Problem(cp.Maximize(-cp.norm(x, "fro")), [cp.norm(x, "fro") <= 1])
    assert "a general concave objective" in str(bent.report())


def test_logarithms_of_what_cannot_be_above_zero_are_reported_in_the_users_words() -> None:
    x = cp.Variable((2, 4), nonneg=True)
    least = cp.sum(cp.log(cp.sum(x, axis=0) - 2))
    with pytest.raises(wl.InfeasibleError) as caught:
        wl.Problem(cp.Maximize(least), [cp.sum(x, axis=0) <= 1, cp.sum(x, axis=1) <= 9]).solve()
    assert "constant" not in str(caught.value)
    assert "raise what stands in log[" in caught.value.remedy

"""Linear and integer programs by HiGHS against SciPy, with prices in Walras' sign."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import Bounds, LinearConstraint, linprog, milp
from tests.programs.linear import drawn

from walras.errors import EngineError
from walras.programs import highs
from walras.programs.highs import LinearProgram, no_answer, solve_program
from walras.progress import Progress
from walras.settings import Settings
from walras.status import Status

CALM = Settings(threads=1)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("scale", [1.0, 1e-7, 1e8])
def test_a_linear_program_has_its_optimum_and_prices_in_any_units(seed: int, scale: float) -> None:
    p = drawn(seed)
    found = solve_program(replace(p, cost=p.cost * scale), CALM)
    known = linprog(p.cost, p.matrix.toarray(), p.row_upper, bounds=np.c_[p.lower, p.upper])
    assert found.status is Status.OPTIMAL
    assert found.x is not None
    assert p.cost @ found.x == pytest.approx(known.fun, rel=1e-8)
    wanted = -scale * known.ineqlin.marginals
    np.testing.assert_allclose(found.prices, wanted, rtol=1e-6, atol=1e-9 * scale)
    assert np.all(found.prices >= -1e-9 * scale)  # of upper bounds


@pytest.mark.parametrize("seed", range(5))
def test_an_integer_program_has_its_optimum_and_a_bound(seed: int) -> None:
    p = drawn(seed, whole=True)
    found = solve_program(p, CALM)
    known = milp(
        p.cost,
        integrality=np.ones(6, dtype=np.int64),
        bounds=Bounds(p.lower, p.upper),
        constraints=LinearConstraint(p.matrix.toarray(), ub=p.row_upper),
    )
    assert found.x is not None
    assert p.cost @ found.x == pytest.approx(known.fun, rel=1e-6)
    assert found.bound == pytest.approx(known.fun, rel=1e-4)
    assert np.isnan(found.prices).all()
    begun = solve_program(p, CALM, start=np.where(np.arange(6) < 3, found.x, np.nan))
    assert begun.x is not None
    assert p.cost @ begun.x == pytest.approx(known.fun, rel=1e-6)


def test_prices_of_lower_bounds_and_equalities_have_their_sign() -> None:
    p = LinearProgram(
        np.array([1.0, 3.0]),
        np.zeros(2),
        np.full(2, np.inf),
        sp.csc_array([[1.0, 1.0], [0.0, 1.0]]),
        np.array([4.0, 1.0]),
        np.array([4.0, np.inf]),
    )
    found = solve_program(p, CALM)
    assert found.x is not None
    np.testing.assert_allclose(found.x, [3.0, 1.0])
    np.testing.assert_allclose(found.prices, [-1.0, -2.0])


def test_what_cannot_be_and_what_has_no_end_are_told_apart() -> None:
    p = drawn(0)
    never = replace(p, row_lower=p.row_upper + 1e3, row_upper=p.row_upper + 1e3)
    endless = replace(p, upper=np.full(6, np.inf), row_upper=np.full(4, np.inf))
    for whole in (None, np.ones(6, bool)):
        assert solve_program(replace(never, integer=whole), CALM).status is Status.INFEASIBLE
        found = solve_program(replace(endless, integer=whole), CALM)
        assert found.status is Status.UNBOUNDED
    bad = replace(p, lower=np.full(6, 5.0))
    assert solve_program(bad, CALM).status is Status.INFEASIBLE


def test_a_program_that_highs_does_not_take_is_one_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(highs, "_pass", lambda *_: False)
    with pytest.raises(EngineError, match="HiGHS rejected the program"):
        solve_program(drawn(0), CALM)


def test_limits_and_callbacks_stop_it_with_what_it_has() -> None:
    p = drawn(1, rows=30, columns=60, whole=True)
    found = solve_program(p, replace(CALM, time_limit=0.0))
    assert found.status is Status.LIMIT
    stopped = solve_program(p, replace(CALM, on_progress=lambda _: True))
    assert stopped.status is Status.INTERRUPTED

    def failing(_: Progress) -> bool:
        raise RuntimeError("the caller failed")

    with pytest.raises(RuntimeError, match="the caller failed"):
        solve_program(p, replace(CALM, on_progress=failing))


def test_steps_are_restated_for_the_user() -> None:
    p = drawn(2, rows=10, columns=20, whole=True)
    p = replace(p, cost=1e7 * p.cost)  # which HiGHS gets in other units
    found = solve_program(p, CALM, restate=lambda step: replace(step, note="mine"))
    assert found.x is not None
    assert found.steps[-1].value == pytest.approx(p.cost @ found.x, rel=1e-9)
    assert {step.note for step in found.steps} == {"mine"}


def test_a_failure_without_a_point_is_an_answer_too() -> None:
    found = no_answer(drawn(0))
    assert (found.status, found.x, found.bound) == (Status.FAILED, None, -np.inf)
    assert found.prices.shape == (4,)


def test_a_point_that_highs_is_unsure_of_is_solved_again() -> None:
    """HiGHS' primal simplex method without presolve ends at -6, "Unknown"."""
    matrix = [[1, -3, 2, -3], [1, 0, 0, 0], [0, -2, 0, 0], [0, 0, -1, 0], [0, 0, 0, -2]]
    none = np.inf
    p = LinearProgram(
        np.array([-2.0, -2.0, 3.0, 1.0]),
        np.zeros(4),
        np.full(4, 4.0),
        sp.csc_array(np.array(matrix, float)),
        np.array([-none, 1.0, -none, -none, -none]),
        np.array([-6.0, 4.0, -1.0, none, -6.0]),
    )
    found = solve_program(p, CALM)
    assert found.x is not None
    assert found.status is Status.OPTIMAL
    assert p.cost @ found.x == pytest.approx(-13.0)

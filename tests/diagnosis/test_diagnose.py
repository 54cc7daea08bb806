"""What an error says of a problem that no allocation meets, or that has no end."""

from __future__ import annotations

from collections.abc import Callable

import cvxpy as cp
import numpy as np
import pytest
from tests.bank.statement import Entry, Row, state
from tests.diagnosis.stated import CALM, MATRIX, UPPER, stated

import walras as wl
from walras.certificate import certify
from walras.diagnosis.diagnose import raise_if_impossible
from walras.separable import assignment


def test_the_error_names_them() -> None:
    with pytest.raises(wl.InfeasibleError) as caught:
        wl.solve(stated(MATRIX, UPPER))
    assert set(caught.value.where.split(", ")) == {"row[0]", "row[1]"}


def raised(constrain: Callable[[cp.Variable], list[cp.Constraint]], *, log: bool = False) -> str:
    """What the error of a problem of three resources and four demands says."""
    speed = np.random.default_rng(0).uniform(1.0, 2.0, (3, 4))
    x = cp.Variable((3, 4), nonneg=True, name="x")
    got = cp.multiply(speed, x)
    aim = cp.sum(cp.log(cp.sum(got, axis=0))) if log else cp.sum(got)
    problem = wl.Problem(cp.Maximize(aim), constrain(x))
    with pytest.raises(wl.InfeasibleError) as error:
        problem.solve()
    return str(error.value)


def test_bounds_of_single_entries_are_named() -> None:
    """Constraints over one entry become its bounds, and the user looks for them in vain else."""
    said = raised(lambda x: [cp.sum(x, axis=1) <= 1, x[0, 0] >= 2, cp.sum(x, axis=0) <= 3])
    assert said.startswith("Sum(x, 1, False) <= 1.0[0] with x[0, 0] >= 2: ")
    floor = cp.Parameter((3, 4), value=np.full((3, 4), 0.5), name="floor", nonneg=True)
    said = raised(lambda x: [cp.sum(x, axis=1) <= 1, x >= floor])
    assert "with x[0, 0] >= 0.5, x[0, 1] >= 0.5, x[0, 2] >= 0.5 and 1 more" in said
    said = raised(lambda x: [x[:, 2] == 0, cp.sum(x, axis=0) == 1])
    assert "Sum(x, 0, False) == 1.0[2] with x[0, 2] <= 0, x[1, 2] <= 0, x[2, 2] <= 0" in said


def test_a_logarithm_of_nothing_is_reported_without_an_amount() -> None:
    said = raised(lambda x: [x[:, 2] == 0, cp.sum(x, axis=1) <= 2], log=True)
    assert "log[2] with x[0, 2] <= 0" in said
    assert said.endswith("let entries of log[2] be above zero")


def test_rows_that_conflict_by_themselves_name_no_bounds() -> None:
    said = raised(lambda x: [cp.sum(x, axis=1) <= 1, cp.sum(x, axis=0) >= 1])
    assert " with " not in said


def test_the_cheapest_way_out_may_be_through_bounds_of_entries() -> None:
    """Twelve floors of a half are 6 where the sums allow 3: 3 units of floors, or 5 of sums."""
    said = raised(lambda x: [x >= 0.5, cp.sum(x, axis=0) <= 1, cp.sum(x, axis=1) <= 1])
    assert "would do: lower the bound of x[" in said
    said = raised(lambda x: [x[0, 0] >= 2, cp.sum(x, axis=1) <= 1])
    assert said.endswith("lower the bound of x[0, 0] by 1")
    said = raised(lambda x: [x[:, 2] == 0, cp.sum(x, axis=0) == 1])
    assert said.endswith("lower Sum(x, 0, False) == 1.0[2] by 1")


def test_an_end_that_is_missing_names_the_entries_that_move() -> None:
    rows = [Row("row[0]", {0: 1.0, 1: -1.0}, upper=1.0), Row("row[1]", {2: 1.0}, upper=1.0)]
    problem = state([Entry(0, j, cost=-1.0) for j in range(3)], rows)
    with pytest.raises(wl.UnboundedError, match="improves without end") as caught:
        wl.solve(problem)
    assert caught.value.where == "x[r0, d0], x[r0, d1]"


def test_what_has_an_optimum_passes() -> None:
    problem = stated(np.abs(MATRIX), np.array([1.0, 2.0, 5.0]))
    x, none = np.zeros(2), np.zeros(0)
    raise_if_impossible(problem, certify(problem, x, none, np.zeros(3)), CALM)
    over = np.array([9.0, 9.0])  # a bad point of a sound problem is no reason
    raise_if_impossible(problem, certify(problem, over, none, np.zeros(3)), CALM)
    bad = stated(MATRIX, UPPER)
    with pytest.raises(wl.InfeasibleError):
        raise_if_impossible(bad, certify(bad, x, none, np.zeros(3)), CALM)


def test_the_relaxation_proves_what_whole_entries_leave_no_time_for() -> None:
    """Two agents hold 24 of 60 tasks that weigh 5; a third of one more fits each other agent."""
    weight = np.full((10, 60), 200.0)
    weight[:2] = 5.0
    problem = assignment(np.ones((10, 60)), weight, np.full(10, 60.0))
    with pytest.raises(wl.InfeasibleError, match=r"without whole entries") as error:
        wl.solve(problem, engine="integer", time_limit=1e-3)
    assert "capacity[" in error.value.where or "assigned[" in error.value.where

"""Whole entries whose bounds hold no whole number are told apart from rows that conflict."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from tests.bank.statement import Entry, Row, state

import walras as wl
import walras.dede as dd
from walras.engines.exact.engine import Exact
from walras.settings import Settings
from walras.status import Status


@pytest.mark.parametrize(
    ("low", "high", "least"),
    [
        (0.2, 0.8, "lower its lower bound to 0, or raise its upper bound to 1"),
        (0.5, 0.5, "lower its lower bound to 0, or raise its upper bound to 1"),
        (1.2, 1.7, "lower its lower bound to 1"),
        (-1.7, -1.2, "raise its upper bound to -1"),
    ],
)
@pytest.mark.parametrize("concave", [False, True])
def test_bounds_without_a_whole_number_name_the_entry(
    low: float, high: float, least: str, concave: bool
) -> None:
    z = cp.Variable(2, integer=True, name="z")
    goal: Any = cp.sum(cp.log(z + 2)) if concave else cp.sum(z)
    problem = wl.Problem(cp.Maximize(goal), [z[0] >= low, z[0] <= high, z[1] <= 5])
    with pytest.raises(wl.InfeasibleError, match="no whole number between") as caught:
        problem.solve()
    assert caught.value.where == "z[0]"
    assert caught.value.remedy == f"the least change that would do: {least}"
    assert (problem.status, z.value) == ("infeasible", None)


def test_a_dede_program_says_it_as_well() -> None:
    z = dd.Variable(2, integer=True, name="z")
    problem = dd.Problem(dd.Maximize(dd.sum(z)), [2 * z[0] == 1], [z <= 5, z >= 0])
    with pytest.raises(wl.InfeasibleError, match=r"z\[0\].*no whole number between 0.5 and 0.5"):
        problem.solve()
    assert (problem.status, problem.value) == ("infeasible", -np.inf)


def test_the_engine_itself_calls_it_infeasible_and_rounding_is_forgiven() -> None:
    rows = [Row("most[r0]", {0: 1.0, 1: 1.0}, upper=3.0)]
    problem = state([Entry(0, 0, -1.0), Entry(0, 1, -2.0)], rows)
    whole = np.ones(2, dtype=np.bool_)
    fixed = replace(problem, integer=whole, lower=np.array([0.2, 0.0]), upper=np.array([0.8, 9.0]))
    assert Exact().solve(fixed, Settings(threads=1)).status is Status.INFEASIBLE
    with pytest.raises(wl.InfeasibleError, match=r"between 0\.2 and 0\.8"):
        wl.solve(replace(fixed, integer=None), integer=True)
    off = replace(fixed, lower=np.array([1.0 + 1e-12, 0.0]), upper=np.array([1.0 + 1e-12, 9.0]))
    assert wl.solve(off).value == pytest.approx(-5.0)

"""What is no objective and no constraint is one clear error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import walras as wl
from walras.problem.checks import check_constraints, check_declared, check_objective

X = cp.Variable((2, 3), nonneg=True, name="x")


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (
            lambda: wl.Problem(cp.Minimize(cp.log(X[0, 0]) * X[0, 1])),
            r"log\(x\[0, 0\]\) \* x\[0, 1\] in the objective",
        ),
        (lambda: wl.Problem(cp.Maximize(cp.sum(cp.square(X)))), "is convex"),
        (lambda: wl.Problem(cp.Maximize(cp.sum(X)), [cp.log(X[0, 0]) <= 1]), r"in constraint\[0\]"),
        (
            lambda: wl.Problem(cp.Maximize(cp.sum(X)), [X <= 1, cp.sqrt(X[0, 0]) == 1]),
            r"in constraint\[1\]",
        ),
        (lambda: wl.Problem(cp.sum(X)), "Minimize"),
        (lambda: wl.Problem(cp.Maximize(cp.sum(X)), [X <= 1, 3]), r"constraint\[1\]: is 3"),
        (lambda: wl.Problem(cp.Maximize(cp.sum(X)), [False]), r"constraint\[0\]: is False"),
        (
            lambda: wl.Problem(cp.Maximize(cp.sum(X)), [X <= 1], resource_constraints=[X <= 1]),
            "were given beside",
        ),
        (lambda: wl.Problem(cp.Maximize(3), []).solve(), "no variables"),
        (lambda: wl.Problem(cp.Maximize(cp.sum(X)), [np.nan * X[0] <= 1]).solve(), "not finite"),
        (
            lambda: wl.Problem(cp.Maximize(cp.sum(X)), [0 * (np.inf * X[0]) <= 1]).solve(),
            "not finite",
        ),
        (
            lambda: wl.Problem(
                cp.Maximize(cp.sum(X)), [cp.sum(X) <= cp.Parameter(name="cap")]
            ).solve(),
            "parameter cap: has no value",
        ),
        (
            lambda: wl.Problem(
                cp.Maximize(cp.sum(X)),
                demand_constraints=[cp.sum(X, axis=0) <= 1],
                resource_constraints=[cp.sum(X, axis=1) <= 1, X[0, 1] + X[1, 1] <= 1],
            ).solve(),
            "demand_constraints",
        ),
    ],
)
def test_bad_input_is_one_clear_error(build: Callable[[], Any], message: str) -> None:
    with pytest.raises(wl.InputError, match=message) as caught:
        build()
    assert caught.value.remedy


def test_constraints_are_a_list_without_those_that_always_hold() -> None:
    row = X <= 1
    assert check_constraints(None) == []
    assert check_constraints(row) == [row]
    assert check_constraints([True, row]) == [row]
    with pytest.raises(wl.InputError, match=r"demand\[1\]: is 'x'"):
        check_constraints([row, "x"], "demand")


def test_the_smallest_part_that_breaks_the_rules_is_named() -> None:
    check_objective(cp.Maximize(cp.sum(cp.sqrt(X))))
    nested = cp.Minimize(cp.sum(X) + cp.exp(cp.log(X[0, 0]) * X[0, 1]))
    with pytest.raises(wl.InputError, match=r"DCP") as caught:
        check_objective(nested)
    assert caught.value.where == "log(x[0, 0]) * x[0, 1] in the objective"


def test_declared_bounds_that_contradict_each_other_name_their_element() -> None:
    check_declared([cp.Variable(2, bounds=[0, 1])])
    low = cp.Parameter(3, value=[0.0, 2.0, 0.0])
    crossed = cp.Variable(3, name="y", bounds=[low, np.ones(3)])
    with pytest.raises(wl.InfeasibleError, match="at least 2 and for at most 1") as caught:
        check_declared([cp.Variable(2), crossed])
    assert caught.value.where == "y[1]"

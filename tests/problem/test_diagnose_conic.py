"""Why a problem outside the separable form has no optimum: constraints and variables by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import walras as wl


@pytest.mark.parametrize(
    ("constraints", "kind"),
    [
        (lambda x: [cp.norm(x) <= 1, cp.sum(x) >= 20], wl.InfeasibleError),
        (lambda x: [cp.norm(x[0]) <= 1], wl.UnboundedError),
    ],
)
def test_impossible_problems_outside_the_form_say_so(
    constraints: Callable[[cp.Variable], list[Any]], kind: type[wl.WalrasError]
) -> None:
    x = cp.Variable((2, 3), nonneg=True)
    with pytest.raises(kind, match="outside the separable form"):
        wl.Problem(cp.Maximize(cp.sum(x)), constraints(x)).solve(threads=1)


def test_a_conflict_outside_the_form_is_named_with_the_least_relaxation() -> None:
    x, y = cp.Variable(3, name="x"), cp.Variable(2, name="y", nonneg=True)
    ball, much = cp.norm(x) <= 1, cp.sum(x) >= 5
    much.set_label("enough of x")
    p = wl.Problem(cp.Minimize(cp.norm(x) + cp.sum(y)), [ball, y[0] <= 7, much])
    with pytest.raises(wl.InfeasibleError) as caught:
        p.solve()
    assert "enough of x" in caught.value.where
    assert "norm" in caught.value.where
    assert "y" not in caught.value.where.partition(": ")[2]
    # One unit of slack in the sum is worth sqrt(3) in the norm: 5 / sqrt(3) - 1 is the least.
    amount = float(caught.value.remedy.rpartition(" by ")[2])
    assert amount == pytest.approx(5 / np.sqrt(3) - 1, rel=1e-4)
    assert p.status == "infeasible"


def test_an_equality_and_a_matrix_outside_the_form_are_named() -> None:
    X = cp.Variable((2, 2), symmetric=True, name="X")
    p = wl.Problem(cp.Minimize(cp.trace(X)), [X >> 0, cp.trace(X) == -2])
    with pytest.raises(wl.InfeasibleError) as caught:
        p.solve()
    assert "Trace(X) == -2" in caught.value.where
    assert ">> 0" in caught.value.where
    assert caught.value.remedy.endswith(">> 0 by 1")


def test_what_runs_away_outside_the_form_is_named() -> None:
    x, y = cp.Variable(2, name="x", nonneg=True), cp.Variable(2, name="y")
    p = wl.Problem(cp.Maximize(cp.sum(x) + cp.sum(y)), [cp.norm(y) <= 3])
    with pytest.raises(wl.UnboundedError) as caught:
        p.solve()
    assert caught.value.where.endswith(": x")
    assert caught.value.remedy == "bound x"
    assert p.value is None

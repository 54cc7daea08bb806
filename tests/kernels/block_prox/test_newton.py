"""The first-order engine's kernels against their definition, HiGHS' and Clarabel's answers."""

from __future__ import annotations

from types import SimpleNamespace

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kernels.block_prox.groups import KINDS, random_groups, solved

from walras.kernels.block_prox import newton, reference


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 2), st.sampled_from([0.0, 0.3]))
def test_groups_agree_with_their_definition(seed: int, rows: int, softness: float) -> None:
    g = random_groups(seed, rows)
    x, _, _, _ = solved(g, newton.solve_groups, softness)
    known, _, _, _ = solved(g, reference.solve_groups, softness)
    assert x == pytest.approx(known, abs=1e-6)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 2), st.sampled_from(sorted(KINDS)))
def test_groups_with_a_cost_agree_with_their_definition(seed: int, rows: int, name: str) -> None:
    g = random_groups(seed, rows, cost=KINDS[name])
    x, price, _, _ = solved(g, newton.solve_groups)
    known, known_price, _, _ = solved(g, reference.solve_groups)
    assert x == pytest.approx(known, abs=1e-6)
    assert price[:, 0] == pytest.approx(known_price[:, 0], rel=1e-5, abs=1e-6)


def _model(g: SimpleNamespace, x: cp.Variable) -> tuple[cp.Expression, list[cp.Constraint]]:
    cost = cp.sum(cp.multiply(0.5 / g.s, cp.square(x - g.v)))
    bounded = np.isfinite(g.x_upper)
    rows = [x >= g.x_lower, x[bounded] <= g.x_upper[bounded]]
    for j in range(len(g.ptr) - 1):
        run = slice(g.ptr[j], g.ptr[j + 1])
        for k in range(len(g.local)):
            y = g.local[k, run] @ x[run]
            if g.kind[j, k] == KINDS["log"]:
                cost -= g.weight[j, k] * cp.log(y)
            rows += [y <= g.upper[j, k]] if np.isfinite(g.upper[j, k]) else []
            rows += [y >= g.lower[j, k]] if np.isfinite(g.lower[j, k]) else []
    return cost, rows


@pytest.mark.parametrize("seed", [34, 50, 52, 53])
@pytest.mark.parametrize("rows", [1, 2, 3])
@pytest.mark.parametrize("cost", ["", "log"])
def test_groups_agree_with_clarabel(rows: int, cost: str, seed: int) -> None:
    g = random_groups(seed, rows, cost=KINDS.get(cost, 0))
    x = cp.Variable(len(g.v))
    objective, constraints = _model(g, x)
    close = 1e-7 if cost else 1e-10  # what Clarabel reaches with and without a logarithm
    cp.Problem(cp.Minimize(objective), constraints).solve(
        solver=cp.CLARABEL, tol_gap_abs=close, tol_gap_rel=close, tol_feas=close
    )
    found, _, _, _ = solved(g, newton.solve_groups)
    assert found == pytest.approx(x.value, abs=5e-4 if cost else 2e-5)


@pytest.mark.parametrize(
    ("kernel", "rows"),
    [(newton.solve_groups, k) for k in (1, 2, 3)] + [(reference.solve_groups, k) for k in (1, 2)],
)
def test_the_scalars_slope_is_the_derivative(kernel: object, rows: int) -> None:
    g = random_groups(3, rows, count=3)
    shift = np.zeros(g.lower.shape)
    shift[:, -1] = 1.0
    _, _, value, slope = solved(g, kernel, t=0.05, shift=shift)
    ahead = solved(g, kernel, t=0.05 + 1e-6, shift=shift)[2]
    behind = solved(g, kernel, t=0.05 - 1e-6, shift=shift)[2]
    assert slope == pytest.approx((ahead - behind) / 2e-6, rel=1e-3, abs=1e-6)
    assert behind <= value + 1e-9
    assert value <= ahead + 1e-9


def test_parallel_rows_that_ask_for_different_things_leave_one_price() -> None:
    # x <= 1 and x >= 1/4 from prices of both: the centre 1/2 meets both.
    g = SimpleNamespace(
        ptr=np.array([0, 1]),
        local=np.array([[1.0], [-1.0]]),
        v=np.array([0.5]),
        s=np.ones(1),
        x_lower=np.zeros(1),
        x_upper=np.full(1, np.inf),
        kind=np.zeros((1, 2), np.int8),
        weight=np.ones((1, 2)),
        parameter=np.zeros((1, 2)),
        lower=np.full((1, 2), -np.inf),
        upper=np.array([[1.0, -0.25]]),
    )
    price, x = np.array([[0.4, 0.4]]), np.zeros(1)
    newton.solve_groups(
        g.ptr,
        g.local,
        g.v,
        g.s,
        g.x_lower,
        g.x_upper,
        g.kind,
        g.weight,
        g.parameter,
        g.lower,
        g.upper,
        0.0,
        1e-12,
        np.zeros((1, 2)),
        price,
        x,
    )
    assert x == pytest.approx([0.5])
    assert price == pytest.approx(np.zeros((1, 2)), abs=1e-12)

"""The end of the weighted central path: best by HiGHS, central by the barrier, alike by weights."""

from __future__ import annotations

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from walras.programs.central_path import WeightedProgram, end_of_path, linear
from walras.types import Floats


def _program(seed: int, weighted: bool = False) -> WeightedProgram:
    """Services of a level above rows of time: small whole numbers, so that many are best."""
    rng = np.random.default_rng(seed)
    services, bounds, columns = (int(k) for k in rng.integers(1, 5, 3))
    gains = rng.integers(0, 3, (services, columns)).astype(float)
    takes = rng.integers(0, 3, (bounds, columns)).astype(float)
    takes[0] = np.maximum(takes[0], 1.0)
    gains[:, 0] = np.maximum(gains[:, 0], 1.0)
    rows = services + bounds
    return WeightedProgram(
        matrix=sp.csc_array(np.vstack([-gains, takes])),
        level=linear(np.repeat([1.0, 0.0], [services, bounds])),
        right=np.concatenate([np.zeros(services), rng.integers(1, 4, bounds)]),
        columns=rng.uniform(0.5, 3.0, columns) if weighted else np.ones(columns),
        rows=rng.uniform(0.5, 3.0, rows) if weighted else np.ones(rows),
    )


@settings(deadline=None)
@given(st.integers(0, 10_000), st.booleans())
def test_the_level_is_the_best_and_the_prices_prove_it(seed: int, weighted: bool) -> None:
    program = _program(seed, weighted)
    found = end_of_path(program)
    assert found.converged
    level = program.level(1.0)[0]
    matrix = np.column_stack([program.matrix.toarray(), level])
    goal = np.append(np.zeros(matrix.shape[1] - 1), -1.0)
    free = [(0, None)] * (len(goal) - 1) + [(None, None)]
    best = -float(linprog(goal, A_ub=matrix, b_ub=program.right, bounds=free)["fun"])
    assert found.level == pytest.approx(best, rel=1e-7)
    assert found.prices @ program.right == pytest.approx(best, rel=1e-7)
    assert (found.x >= 0.0).all()
    assert (matrix @ np.append(found.x, found.level) <= program.right + 1e-7).all()
    assert (found.prices @ program.matrix >= -1e-7).all()
    assert found.prices @ level == pytest.approx(1.0)


def _at_the_barrier(program: WeightedProgram, mu: float) -> Floats:
    """The point of the path at mu, by cvxpy."""
    x, level = cp.Variable(program.matrix.shape[1]), cp.Variable()
    slack = program.right - program.matrix @ x - program.level(1.0)[0] * level
    barrier = program.columns @ cp.log(x) + program.rows @ cp.log(slack)
    cp.Problem(cp.Maximize(level / mu + barrier)).solve(solver="CLARABEL")
    return np.asarray(x.value)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_the_end_is_the_limit_of_the_barrier(seed: int, weighted: bool) -> None:
    program = _program(seed, weighted)
    assert end_of_path(program).x == pytest.approx(_at_the_barrier(program, 1e-5), abs=1e-3)


@given(st.integers(0, 10_000))
def test_a_weight_stands_for_columns_that_are_alike(seed: int) -> None:
    """Two identical columns end alike, where one of weight two has the sum."""
    program = _program(seed)
    one = np.zeros(program.matrix.shape[1], np.int64)
    twice = np.concatenate([np.arange(len(one)), [0]])
    double = replace(
        program,
        matrix=sp.csc_array(program.matrix[:, twice]),
        columns=np.ones(len(twice)),
    )
    weight = np.ones(len(one))
    weight[0] = 2.0
    merged = end_of_path(replace(program, columns=weight)).x
    apart = end_of_path(double).x
    assert apart[0] == pytest.approx(apart[-1], abs=1e-6)
    assert apart[0] + apart[-1] == pytest.approx(merged[0], abs=1e-5)
    assert apart[1:-1] == pytest.approx(merged[1:], abs=1e-5)


@given(st.integers(0, 10_000))
def test_a_convex_level_is_the_best(seed: int) -> None:
    """A level l < 0 asks -k / l of the rows, as the level -1 / l asks of them in a linear one."""
    rng = np.random.default_rng(seed)
    program = _program(seed)
    asks = rng.uniform(0.5, 2.0, len(program.right)) * program.level(1.0)[0]

    def level(at: float) -> tuple[Floats, Floats, Floats]:
        return -asks / at, asks / at**2, -2.0 * asks / at**3

    found = end_of_path(replace(program, level=level, start=-10.0, ceiling=0.0))
    assert found.converged
    best = end_of_path(replace(program, level=linear(asks))).level
    assert found.level == pytest.approx(-1.0 / best, rel=1e-6)
    assert found.prices @ level(found.level)[1] == pytest.approx(1.0)

"""The end on the embedding against that of ECOS itself, and of rows that stand for many."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from walras.programs.central_path import WeightedProgram, linear
from walras.programs.embedding import end_of_embedding


def _program(seed: int) -> WeightedProgram:
    """Services of a level above rows of time, and a row that all columns share."""
    rng = np.random.default_rng(seed)
    services, columns = int(rng.integers(1, 6)), int(rng.integers(1, 4))
    rows = np.repeat(np.eye(services), columns, axis=1)
    gains = rows * rng.uniform(0.2, 5.0, services * columns) * 10.0 ** rng.integers(-1, 2)
    shared = rng.choice([1.0, 2.0, 4.0], (1, services * columns))
    level = np.repeat([1.0, 0.0], [services, services + 1])
    return WeightedProgram(
        matrix=sp.csc_array(np.vstack([-gains, rows, shared])),
        level=linear(level),
        right=np.concatenate([np.zeros(services), np.ones(services), [rng.uniform(1.0, 9.0)]]),
        columns=np.ones(services * columns),
        rows=np.ones(2 * services + 1),
    )


# Steps and columns of ECOS 2.0.14 for these programs: ``ecos.solve(c, G, h, dims)`` minimises -l,
# with the rows of the program above those of -x <= 0.
_ECOS = {
    2: (6, [0.62312, 0.43603, 1.0, 0.48048, 0.4367]),
    3: (8, [0.14329, 0.04734, 0.06396, 0.29384, 0.08404]),
    7: (9, [0.38606, 0.0024, 0.0, 1.0, 0.38001, 0.00225, 0.20387, 0.20111, 0.66787, 0.01415]),
    8: (7, [0.14909, 0.42567, 0.18477, 0.16828]),
}


@pytest.mark.parametrize("seed", _ECOS)
def test_the_end_is_that_of_ecos(seed: int) -> None:
    end, (steps, x) = end_of_embedding(_program(seed)), _ECOS[seed]
    assert end.converged
    assert end.steps == steps
    assert end.x == pytest.approx(x, abs=5e-5)


@settings(deadline=None)
@given(st.integers(0, 10_000))
def test_the_end_is_best_and_its_prices_prove_it(seed: int) -> None:
    program = _program(seed)
    end, level = end_of_embedding(program), program.level(1.0)[0]
    matrix = np.column_stack([program.matrix.toarray(), level])
    goal = np.append(np.zeros(len(end.x)), -1.0)
    best = -float(linprog(goal, A_ub=matrix, b_ub=program.right)["fun"])
    rows = (program.right - program.matrix @ end.x)[level > 0.0]
    assert rows.min() == pytest.approx(best, rel=1e-6)
    assert end.prices @ program.right == pytest.approx(best, rel=1e-6)
    assert (end.prices @ program.matrix >= -1e-6).all()
    assert end.prices @ level == pytest.approx(1.0)


@settings(deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 40))
def test_one_column_stands_for_many(seed: int, many: int) -> None:
    """A job on two types is there many times, once as rows and columns of their own."""
    rng = np.random.default_rng(seed)
    gain, other = rng.uniform(0.2, 5.0, (2, 2))
    workers = rng.uniform(1.0, 0.6 * many, 2)
    ends = []
    for count in (np.append(np.ones(many, np.int64), 1), np.array([many, 1])):
        n = len(count)
        own = np.repeat(np.eye(n), 2, axis=1)
        gains = np.append(np.tile(gain, n - 1), other) * own
        level = np.append(count, np.zeros(n + 2)).astype(float)
        program = WeightedProgram(
            matrix=sp.csc_array(np.vstack([-gains, own, np.tile(np.eye(2), n)])),
            level=linear(level),
            right=np.concatenate([np.zeros(n), count, workers]),
            columns=np.repeat(count, 2).astype(float),
            rows=np.concatenate([count, count, [1.0, 1.0]]),
        )
        ends.append(end_of_embedding(program))
    apart, merged = ends
    assert merged.steps == apart.steps
    assert merged.x[:2] == pytest.approx(apart.x[:2] * many, rel=1e-5, abs=1e-5)
    assert merged.x[2:] == pytest.approx(apart.x[-2:], abs=1e-5)
    assert merged.prices[-2:] == pytest.approx(apart.prices[-2:], abs=1e-6)


def test_numbers_that_are_too_far_apart_end_without_a_warning() -> None:
    program = _program(3)
    far = replace(program, matrix=program.matrix * 1e200, right=program.right * 1e-200)
    assert not end_of_embedding(far).converged
    apart = program.matrix.copy()
    apart.data[0] *= 1e20
    assert end_of_embedding(replace(program, matrix=apart)).steps <= 100

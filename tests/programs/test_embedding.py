"""The end on the embedding against Clarabel's own, and of rows that stand for many."""

from __future__ import annotations

from dataclasses import replace

import clarabel
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from walras.programs.central_path import WeightedProgram, linear
from walras.programs.embedding import end_of_embedding
from walras.types import Floats


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


def _by_clarabel(program: WeightedProgram) -> tuple[Floats, Floats, int]:
    rows, columns = program.matrix.shape
    whole = np.column_stack([program.matrix.toarray(), program.level(1.0)[0]])
    whole = np.vstack([whole, -np.eye(columns, columns + 1)])
    none, right = sp.csc_matrix((columns + 1,) * 2), np.append(program.right, np.zeros(columns))
    goal, quiet = np.append(np.zeros(columns), -1.0), clarabel.DefaultSettings()
    quiet.verbose = False
    cones = [clarabel.NonnegativeConeT(rows + columns)]
    found = clarabel.DefaultSolver(none, goal, sp.csc_matrix(whole), right, cones, quiet).solve()
    return np.array(found.x)[:-1], np.array(found.z)[:rows], found.iterations


@settings(deadline=None)
@given(st.integers(0, 10_000))
def test_the_end_is_clarabels(seed: int) -> None:
    program = _program(seed)
    end = end_of_embedding(program)
    x, prices, steps = _by_clarabel(program)
    assert end.steps == steps
    assert end.x == pytest.approx(x, abs=1e-5)
    assert end.prices == pytest.approx(prices, abs=1e-5)


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
    assert merged.x[:2] == pytest.approx(apart.x[:2] * many, abs=1e-5)
    assert merged.x[2:] == pytest.approx(apart.x[-2:], abs=1e-5)
    assert merged.prices[-2:] == pytest.approx(apart.prices[-2:], abs=1e-6)


def test_numbers_that_are_too_far_apart_end_without_a_warning() -> None:
    program = _program(3)
    far = replace(program, matrix=program.matrix * 1e200, right=program.right * 1e-200)
    end_of_embedding(far)

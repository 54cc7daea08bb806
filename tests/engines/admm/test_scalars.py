"""Shared scalars as entries of nobody, or as copies: the same problem with the same optimum."""

from __future__ import annotations

import numpy as np
import pytest
from tests.bank.statement import Entry, Row, Scalar, state

import walras as wl
from walras.engines.admm.scalars import copied, lifted
from walras.separable import Separable, Side

CS = wl.domains.cluster_scheduling


def fair(seed: int = 0) -> Separable:
    rng = np.random.default_rng(seed)
    made = CS.max_min(rng.uniform(1, 3, (3, 5)), np.ones(5), [1.0, 1.0, 1.5])
    assert isinstance(made, Separable)
    return made


def two() -> Separable:
    """Two scalars: the least of one pair, and the most of another."""
    rows = [
        Row("a[0]", {0: -1.0}, scalars={0: 1.0}, upper=0.0),
        Row("b[0]", {1: 1.0}, scalars={1: -1.0}, upper=0.5),
        Row("c[0]", {0: 1.0, 1: -1.0}, upper=0.75),
    ]
    scalars = [Scalar(cost=-2.0, upper=9.0), Scalar(cost=1.0, upper=9.0)]
    return state([Entry(0, 0, upper=4.0), Entry(0, 1, upper=4.0)], rows, scalars=scalars)


def value(problem: Separable) -> float:
    return float(wl.solve(problem, engine="exact", threads=1).value)


@pytest.mark.parametrize("problem", [fair(), fair(1), two()], ids=["fair", "another", "two"])
def test_lifted_scalars_are_entries_of_nobody_with_the_same_optimum(problem: Separable) -> None:
    found = lifted(problem)
    assert found.scalars == 0
    assert found.entries == problem.entries + problem.scalars
    assert np.all(found.demand[problem.entries :] == -1)
    assert np.all(found.resource[problem.entries :] == -1)
    np.testing.assert_array_equal(found.cost[problem.entries :], problem.scalar_cost)
    held = np.any(problem.rows.scalar_matrix != 0, axis=1)
    assert np.all(found.rows.side[held] == Side.COUPLED)
    np.testing.assert_array_equal(found.rows.owner[~held], problem.rows.owner[~held])
    np.testing.assert_array_equal(
        found.rows.matrix.toarray(),
        np.hstack([problem.rows.matrix.toarray(), problem.rows.scalar_matrix]),
    )
    assert value(found) == pytest.approx(value(problem), rel=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_copies_are_tied_to_the_scalar_and_keep_the_optimum(seed: int) -> None:
    problem = fair(seed)
    found = copied(problem, problem.demand)
    assert found.entries == problem.entries + 5  # one a job
    assert found.demand[problem.entries :].tolist() == [0, 1, 2, 3, 4]
    assert np.all(found.resource[problem.entries :] == -1)
    assert found.rows.count == problem.rows.count + 5
    links = slice(problem.rows.count, None)
    assert found.rows.scalar_matrix[links].ravel().tolist() == [-1.0] * 5
    assert not np.any(found.rows.scalar_matrix[: problem.rows.count])
    tied = found.rows.matrix.toarray()[links, problem.entries :]
    np.testing.assert_array_equal(tied, np.eye(5))
    assert value(found) == pytest.approx(value(problem), rel=1e-9)

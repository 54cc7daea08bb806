"""Slices of variables: coefficients against the expressions' own values, and what is written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

from walras.separable.cvxpy.affine import AffineMap
from walras.separable.cvxpy.slices import Slices

N, M = 5, 4
W = np.random.default_rng(1).normal(size=(N, M))

SHAPES: dict[str, Callable[[Any, Any], Any]] = {
    "entry": lambda x, v: x[2, 3] - 1,
    "row": lambda x, v: x[1, :].sum(),
    "column": lambda x, v: W[:, 2] @ x[:, 2] + v[0],
    "block": lambda x, v: cp.multiply(W[1:3, 1:], x[1:3, 1:]),
    "backwards": lambda x, v: x[::-2, 1],
    "slice of a slice": lambda x, v: x[1:, 1:][0, ::2] + 2,
    "the same slice twice": lambda x, v: x[0] + 3 * x[0] - x[0, 1],
    "overlapping slices": lambda x, v: x[:, 1][:3] + x[1:4, 1] + v[:3],
    "list of entries": lambda x, v: x[:, [0, 2, 2]],
    "slice of a product": lambda x, v: (W.T @ x)[1:, 0],
    "in a stack": lambda x, v: cp.hstack([x[0, :], v, x[:, 3]]),
    "no slice": lambda x, v: cp.sum(x, axis=1) - v[0],
    "times a parameter": lambda x, v: cp.Parameter(M, value=W[0]) @ x[3, :],
}


@pytest.mark.parametrize("read", [True, False])
@pytest.mark.parametrize("reuse", [True, False])
@pytest.mark.parametrize("name", SHAPES)
def test_coefficients_give_the_expression_its_value(name: str, reuse: bool, read: bool) -> None:
    x, v = cp.Variable((N, M)), cp.Variable(3)
    shape = SHAPES[name](x, v)
    # Quotients are never read: they go to cvxpy's backend.
    expressions = [shape if read else shape / 2, x[4, 0] + v[2]]
    found = AffineMap(expressions, [v, x], reuse=reuse)
    rng = np.random.default_rng(2)
    x.value, v.value = rng.normal(size=(N, M)), rng.normal(size=3)
    z = np.concatenate([v.value, x.value.ravel(order="F"), [1.0]])
    got = np.zeros(found.pattern.rows)
    np.add.at(got, found.pattern.row, found.values() * z[found.pattern.column])
    expected = np.concatenate([np.ravel(e.value, order="F") for e in expressions])
    np.testing.assert_allclose(got, expected, rtol=1e-13, atol=1e-13)
    pairs = set(zip(found.pattern.row.tolist(), found.pattern.column.tolist(), strict=True))
    assert len(pairs) == len(found.pattern.row), "a coefficient stands twice"


def test_only_the_entries_of_the_slices_are_written() -> None:
    x = cp.Variable((N, M))
    rows = [x[i, :].sum() for i in range(N)]
    columns = [W[:, j] @ x[:, j] for j in range(M)]
    slices = Slices({x.id: 0}, x.size)
    trees = [slices.taken(e.canonical_form[0]) for e in rows + columns]
    assert slices.columns == 3 * x.size  # x itself, its rows, its columns

    def leaves(tree: Any) -> list[Any]:
        return [leaf for arg in tree.args for leaf in leaves(arg)] or [tree]

    named = {leaf.data for tree in trees for leaf in leaves(tree) if leaf.type == "variable"}
    assert x.id not in named
    assert len(named) == N + M

"""Expressions read off their trees, against cvxpy's own canonicalisation of the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from cvxpy.cvxcore.python import canonInterface
from cvxpy.lin_ops.lin_op import CONSTANT_ID
from hypothesis import given, settings
from hypothesis import strategies as st

from walras.separable.cvxpy.read import Reader, is_readable, parameters_of
from walras.types import Floats

N, M = 4, 3
Places = set[tuple[int, int]]

X, V, S = cp.Variable((N, M)), cp.Variable(M), cp.Variable()
START = {X.id: 0, V.id: N * M, S.id: N * M + M}
COLUMNS = N * M + M + 1
W = np.random.default_rng(5).normal(size=(N, M)) * np.array([[1, 0, 1]] * N)


def read(expression: Any) -> tuple[Floats, Places]:
    """(rows, columns + 1) coefficients, constants last, and where some are written."""
    first = np.array([1])  # a row of another expression comes before
    row, column, data = Reader(START, COLUMNS).read([expression], first)
    dense = np.zeros((expression.size, COLUMNS + 1))
    np.add.at(dense, (row - 1, column), data)
    return dense, set(zip((row - 1).tolist(), column.tolist(), strict=True))


def canonicalised(expression: Any) -> tuple[Floats, Places]:
    """The same from cvxpy's backend, whole variables and all."""
    tensor = canonInterface.get_problem_matrix(
        [expression.canonical_form[0]],
        COLUMNS,
        START,
        {CONSTANT_ID: 1},
        {CONSTANT_ID: 0},
        expression.size,
        cp.settings.COO_CANON_BACKEND,
    ).tocoo()
    column, row = np.divmod(tensor.coords[0], expression.size)
    dense = np.zeros((expression.size, COLUMNS + 1))
    np.add.at(dense, (row, column), tensor.data)
    return dense, set(zip(row.tolist(), column.tolist(), strict=True))


READ: dict[str, Any] = {
    "variable": X,
    "scalar": S,
    "row": X[1, :].sum(),
    "row, less a number": X[1, :].sum() - 3,
    "column, from a number": 2 - cp.sum(X[:, 2]),
    "rows": cp.sum(X, axis=1),
    "columns, axes kept": cp.sum(X, axis=0, keepdims=True),
    "all, axes kept": cp.sum(X, keepdims=True),
    "all, axes kept, one": cp.sum(X, keepdims=True)[0, 0] + 1,
    "last axis": cp.sum(X, axis=-1) - 1,
    "both axes": cp.sum(X, axis=(1, 0)),
    "weights": cp.multiply(W, X),
    "weighted rows": cp.sum(cp.multiply(W, X), axis=1)[2] - 1,
    "weighted rows kept, one": cp.sum(cp.multiply(W, X), axis=1, keepdims=True)[2, :],
    "number times variable": 3 * V - 2,
    "zero times variable": 0 * V + 1,
    "scalar over a matrix": X - S,
    "sum over a matrix": X[:, 0] - cp.sum(cp.multiply(W[0], V)),
    "scalar, number, vector": cp.multiply(W[:, 0], 2 * S),
    "vector @ column": W[:, 1] @ X[:, 1],
    "vector @ matrix": W[:, 0] @ X,
    "matrix @ vector": X @ W[0] - 1,
    "vector @ vector": V @ W[1],
    "vector @ matrix @ vector": (W[:, 0] @ X) @ W[0],
    "vector @ rows kept": cp.sum(W[:, 0] @ cp.multiply(W, X), keepdims=True),
    "part of a product": (X @ W[0])[1:3],
    "entry": X[2, -1],
    "backwards": X[::-2, 1],
    "from the end": X[-2:, :-1],
    "list": X[:, [0, 2, 2]],
    "mask": X[W > 0],
    "new axis": V[None, :],
    "slice of a slice": X[::2, 1:][1, ::-1] + 2,
    "the same twice": X[0] + 3 * X[0] - X[0, 1],
    "cancelled": X[0] - X[0],
    "python sum": sum(X[i, i] for i in range(M)),
    "constant": cp.Constant(W) - 1,
    "constant times constant": cp.multiply(cp.Constant(W), 2 * np.ones((N, M))) + X,
    "constant @ constant": (cp.Constant(W[0]) @ W[1]) * V,
    "nothing": X[0:0, 1].sum() + V,
}

NOT_READ: dict[str, Any] = {
    "parameter": cp.Parameter(M, value=W[0]) @ V,
    "parameter added": V + cp.Parameter(value=1.0),
    "matrix @ matrix": W.T @ X,
    "stack": cp.hstack([X[0], V]),
    "transpose": X.T,
    "quotient": X / 2,
    "logarithm": cp.log(V),
    "product of variables": cp.multiply(V, V),
    "complex": 1j * V,
    "sparse": cp.multiply(cp.Constant(sp.csr_array(W)), X),
    "vector @ three axes": W[:, 0] @ cp.Variable((2, N, M)),
    "product of two shapes": cp.multiply(cp.Constant(np.ones((1, 1))), S),
    "scalars of two shapes": S + X[:1, 0],
}


@pytest.mark.parametrize("name", READ)
def test_what_is_read_is_what_cvxpy_canonicalises(name: str) -> None:
    expression = READ[name]
    assert is_readable(expression)
    (got, places), (expected, theirs) = read(expression), canonicalised(expression)
    np.testing.assert_allclose(got, expected, rtol=1e-14, atol=1e-14)
    assert places == theirs


@pytest.mark.parametrize("name", NOT_READ)
def test_the_rest_is_left_to_cvxpy(name: str) -> None:
    assert not is_readable(NOT_READ[name])
    assert parameters_of(NOT_READ[name]) == NOT_READ[name].parameters()


def test_a_scalar_sums_to_itself() -> None:
    # cvxpy 1.9 takes the axis of a scalar and then fails to canonicalise it.
    np.testing.assert_array_equal(read(cp.sum(S, axis=0))[0], read(S)[0])


def numbers(draw: Callable[..., Any], shape: tuple[int, ...]) -> Any:
    """Small whole numbers, zeros among them: sums of products are then exact."""
    count = int(np.prod(shape, dtype=int))
    return np.reshape(draw(st.lists(st.integers(-2, 3), min_size=count, max_size=count)), shape)


@st.composite
def expressions(draw: Callable[..., Any], depth: int = 4) -> Any:
    """Trees of the atoms that are read."""
    if depth == 0 or draw(st.integers(0, 5)) == 0:
        return draw(st.sampled_from([X, V, S]))
    inner = draw(expressions(depth - 1))
    shape = inner.shape
    choice = draw(st.sampled_from(["negative", "shifted", "scaled", "sum", "index", "@", "both"]))
    if choice == "negative":
        return -inner
    if choice == "shifted":
        return inner - numbers(draw, ()) if draw(st.booleans()) else numbers(draw, shape) - inner
    if choice == "scaled":
        return cp.multiply(numbers(draw, draw(st.sampled_from([shape, ()]))), inner)
    if choice == "sum":
        axes = [None, *range(-len(shape), len(shape))]
        return cp.sum(inner, axis=draw(st.sampled_from(axes)), keepdims=draw(st.booleans()))
    if choice == "index" and shape:
        one = st.integers(-shape[0], shape[0] - 1)
        some = st.builds(lambda low, step: slice(low, None, step), one, st.sampled_from([1, 2, -1]))
        return inner[draw(st.one_of(one, some, st.lists(one, min_size=1, max_size=3)))]
    if choice == "@" and shape:
        left = draw(st.booleans())
        weights = numbers(draw, (shape[0] if left else shape[-1],))
        return weights @ inner if left else inner @ weights
    other = draw(expressions(depth - 1))
    return inner + (other if other.shape == shape else cp.sum(other))


@settings(max_examples=150, deadline=None)
@given(expressions())
def test_any_tree_is_read_as_cvxpy_canonicalises_it(expression: Any) -> None:
    if is_readable(expression):
        np.testing.assert_array_equal(read(expression)[0], canonicalised(expression)[0])

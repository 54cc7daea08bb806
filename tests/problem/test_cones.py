"""Cones of Clarabel: interiors, dual points, and the intervals that membership leaves."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from walras.errors import InputError
from walras.problem.cones import Cone, Program, _in_order
from walras.types import Floats

KINDS: dict[str, dict[str, Any]] = {
    "zero": {"zero": 3},
    "nonnegative": {"nonneg": 3},
    "second order": {"soc": [4]},
    "semidefinite": {"psd": [3]},
    "exponential": {"exp": 1},
    "power": {"p3d": [0.3]},
    "power of three": {"pnd": [[0.2, 0.5, 0.3]]},
}


def dims(**given: Any) -> SimpleNamespace:
    none: dict[str, Any] = dict(zero=0, nonneg=0, soc=[], psd=[], exp=0, p3d=[], pnd=[])
    return SimpleNamespace(**(none | given))


def cone_of(kind: str) -> Cone:
    return next(cone for cone in _in_order(dims(**KINDS[kind])) if len(cone.inside))


def matrix(z: Floats) -> Floats:
    """The symmetric matrix of a scaled upper triangle by columns."""
    full = np.zeros((3, 3))
    column, row = np.tril_indices(3)
    full[row, column] = full[column, row] = np.where(row == column, z, z / np.sqrt(2.0))
    return full


def members(kind: str, count: int = 400) -> Floats:
    """Random points of a cone, by its definition."""
    rng = np.random.default_rng(1)
    if kind == "zero":
        return np.zeros((count, 3))
    if kind == "nonnegative":
        return rng.exponential(size=(count, 3))
    if kind == "second order":
        tail = rng.normal(size=(count, 3))
        return np.c_[np.linalg.norm(tail, axis=1) + rng.exponential(size=count), tail]
    if kind == "semidefinite":
        column, row = np.tril_indices(3)
        half = rng.normal(size=(count, 3, 3))
        scale = np.where(row == column, 1.0, np.sqrt(2.0))
        return (half @ half.transpose(0, 2, 1))[:, row, column] * scale
    if kind == "exponential":
        x, y = rng.normal(size=count), rng.exponential(size=count) + 0.05
        return np.c_[x, y, y * np.exp(x / y) + rng.exponential(size=count)]
    alpha = np.array([0.3, 0.7] if kind == "power" else [0.2, 0.5, 0.3])
    y = rng.exponential(size=(count, len(alpha)))
    return np.c_[y, np.prod(y**alpha, axis=1) * rng.uniform(-1, 1, count)]


@pytest.mark.parametrize("kind", KINDS)
def test_points_of_the_dual_have_no_negative_product_with_a_member(kind: str) -> None:
    cone, points = cone_of(kind), members(kind)
    rng = np.random.default_rng(2)
    for bare in (False, True):
        for _ in range(200):
            z = rng.normal(size=len(cone.inside))
            own = cone.into_dual(z, np.full(len(z), bare))
            assert np.min(points @ own) >= -1e-9 * max(1.0, float(np.abs(own).max()))
            again = cone.into_dual(own, np.full(len(z), bare))
            np.testing.assert_allclose(again, own, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_members_lie_in_the_intervals_that_their_own_numbers_imply(kind: str) -> None:
    cone = cone_of(kind)
    for point in members(kind, 60):
        for width in (0.0, 0.5, np.inf):
            low, high = cone.implied(point - width, point + width)
            assert np.all(low <= point + 1e-9 * np.maximum(1.0, np.abs(point)))
            assert np.all(high >= point - 1e-9 * np.maximum(1.0, np.abs(point)))


def test_intervals_are_as_narrow_as_their_closed_forms() -> None:
    free = np.full(4, -np.inf), np.full(4, np.inf)
    low, high = cone_of("second order").implied(
        np.array([-9.0, 3.0, -5.0, 0.0]), np.array([6.0, 4.0, -4.0, 0.0])
    )
    assert low[0] == 5.0  # the norm of (3, -4, 0)
    assert high.tolist() == [6.0] * 4
    assert low[1:].tolist() == [-6.0] * 3
    low, high = cone_of("exponential").implied(
        np.array([2.0, 1.0, -np.inf]), np.array([np.inf, 4.0, np.e])
    )
    assert low[2] == pytest.approx(2.0 * np.e)  # y exp(2/y) is least at y = 2
    assert high[0] == pytest.approx(1.0)  # y log(e/y) is most at y = 1
    low, high = cone_of("power").implied(free[0][:3], np.array([4.0, 9.0, np.inf]))
    assert high[2] == pytest.approx(4.0**0.3 * 9.0**0.7)
    assert low.tolist() == [0.0, 0.0, -high[2]]
    diagonal = np.array([4.0, np.inf, 9.0, np.inf, np.inf, 0.0])
    low, high = cone_of("semidefinite").implied(np.full(6, -np.inf), diagonal)
    assert high[1] == pytest.approx(np.sqrt(2.0) * 6.0)  # off the diagonal, times root 2
    assert high[3] == high[4] == 0.0  # beside a diagonal of nothing
    assert low[[0, 2, 5]].tolist() == [0.0] * 3


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "zero"])
def test_the_inside_is_inside(kind: str) -> None:
    cone = cone_of(kind)
    point = cone.inside
    if kind == "semidefinite":
        assert np.linalg.eigvalsh(matrix(point)).min() > 0.5
    elif kind == "second order":
        assert point[0] > np.linalg.norm(point[1:])
    elif kind == "exponential":
        assert point[1] * np.exp(point[0] / point[1]) < point[2]
    else:
        assert np.all(point[:2] > 0.0)
    assert cone.ties == (kind != "nonnegative")


def data(b: Floats) -> dict[str, Any]:
    return {
        "A": sp.csc_array([[1.0, 0.0], [0.0, 2.0], [3.0, 1.0]]),
        "b": b,
        "c": np.array([1.0, -1.0]),
        "dims": dims(zero=1, nonneg=2),
    }


def test_an_inequality_without_a_limit_asks_for_nothing() -> None:
    program = Program.of(data(np.array([1.0, np.inf, 5.0])), 7.0)
    assert program.offset.tolist() == [1.0, 1.0, 5.0]
    assert program.matrix.toarray().tolist() == [[1.0, 0.0], [0.0, 0.0], [3.0, 1.0]]
    assert program.bare.tolist() == [False, True, False]
    assert program.inside.tolist() == [0.0, 1.0, 1.0]
    assert program.constant == 7.0
    assert program.into_dual(np.array([-2.0, -3.0, 4.0])).tolist() == [-2.0, 0.0, 4.0]
    low, high = program.implied(np.full(3, -9.0), np.full(3, 9.0))
    assert (low.tolist(), high.tolist()) == ([0.0, 0.0, 0.0], [0.0, 9.0, 9.0])


@pytest.mark.parametrize("wrong", [[np.inf, 1.0, 1.0], [0.0, -np.inf, 1.0], [0.0, np.nan, 1.0]])
def test_other_numbers_that_are_not_finite_are_refused(wrong: list[float]) -> None:
    with pytest.raises(InputError, match="not finite"):
        Program.of(data(np.array(wrong)), 0.0)

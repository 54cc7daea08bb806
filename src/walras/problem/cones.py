"""Clarabel's cones: what lies inside, their duals, and the intervals that they leave to numbers.

A conic program is: minimise 1/2 x'Px + q'x + constant with s = b - Ax in a product of cones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from cvxpy.reductions.solvers.conic_solvers.clarabel_conif import dims_to_solver_cones

from walras.errors import InputError
from walras.types import Bools, Floats

Interval = tuple[Floats, Floats]

_CENTRE = np.array([-1.051383945322714, 0.556409619469370, 1.258967884768947])  # of the exponential
_ROOT2 = np.sqrt(2.0)


@dataclass(frozen=True, eq=False)
class Cone:
    """One cone.

    Attributes:
        inside: A point in its interior; zero for the cone that holds zero alone.
        ties: Whether its numbers are tied to each other, not each by itself.
        into_dual: A point of the dual cone near any point; told which of the rows have no column,
            whose prices may change at no more than their offset's worth.
        implied: What an interval of each number becomes because the numbers lie in the cone.
    """

    inside: Floats
    ties: bool
    into_dual: Callable[[Floats, Bools], Floats]
    implied: Callable[[Floats, Floats], Interval]


@dataclass(frozen=True, eq=False)
class Program:
    """A conic program.

    Attributes:
        quadratic: P, (columns, columns).
        linear: q, (columns,).
        matrix: A, (rows, columns).
        offset: b, (rows,).
        constant: What the objective has beside.
        cones: With the rows of each.
        stated: The same in Clarabel's own objects.
        lower: (columns,) limits of the columns beside the rows.
        upper: (columns,) likewise.
    """

    quadratic: sp.csc_array
    linear: Floats
    matrix: sp.csc_array
    offset: Floats
    constant: float
    cones: tuple[tuple[slice, Cone], ...]
    stated: list[Any]
    lower: Floats
    upper: Floats

    @classmethod
    def of(cls, data: dict[str, Any], constant: float) -> Program:
        """From what cvxpy hands to a conic solver.

        Raises:
            InputError: The data hold a number that is not finite, except as no limit of a row.
        """
        matrix, offset = _without_endless_rows(data)
        q = np.asarray(data["c"], dtype=np.float64)
        p, n = data.get("P"), len(q)
        low, high = data.get("lower_bounds"), data.get("upper_bounds")
        return cls(
            sp.csc_array((n, n)) if p is None else sp.csc_array(p),
            q,
            matrix,
            offset,
            constant,
            tuple(_cones_of(data["dims"])),
            dims_to_solver_cones(data["dims"]),
            np.full(n, -np.inf) if low is None else np.asarray(low, dtype=np.float64),
            np.full(n, np.inf) if high is None else np.asarray(high, dtype=np.float64),
        )

    @cached_property
    def inside(self) -> Floats:
        """(rows,) a point in the interior of all cones, zero in that of zero."""
        return np.concatenate([np.zeros(0), *(cone.inside for _, cone in self.cones)])

    @cached_property
    def bare(self) -> Bools:
        """(rows,) whether a row has no column."""
        rows, _ = self.matrix.nonzero()
        return np.asarray(np.bincount(rows, minlength=len(self.offset)) == 0)

    def into_dual(self, z: Floats) -> Floats:
        """Prices of the rows near any numbers."""
        out = np.array(z)
        for rows, cone in self.cones:
            out[rows] = cone.into_dual(out[rows], self.bare[rows])
        return out

    def implied(self, low: Floats, high: Floats) -> Interval:
        """Intervals of s narrowed by the cones."""
        low, high = low.copy(), high.copy()
        for rows, cone in self.cones:
            narrow = cone.implied(low[rows], high[rows])
            low[rows] = np.maximum(low[rows], narrow[0])
            high[rows] = np.minimum(high[rows], narrow[1])
        return low, high


def _without_endless_rows(data: dict[str, Any]) -> tuple[sp.csc_array, Floats]:
    """The rows and their offsets, an inequality without a limit as one that asks for nothing."""
    matrix, offset = sp.csc_array(data["A"]), np.array(data["b"], dtype=np.float64)
    first, count = data["dims"].zero, data["dims"].nonneg
    endless = np.zeros(len(offset), dtype=np.bool_)
    endless[first : first + count] = offset[first : first + count] == np.inf
    numbers = (matrix.data, offset[~endless], data["c"])
    if not all(np.all(np.isfinite(part)) for part in numbers):
        raise InputError(
            "holds a number that is not finite",
            where="problem outside the separable form",
            allowed="finite numbers",
            remedy="remove NaN and infinity from its data",
        )
    if np.any(endless):
        offset[endless] = 1.0
        matrix = sp.csc_array(sp.diags_array(np.where(endless, 0.0, 1.0)) @ matrix)
    return matrix, offset


def _cones_of(dims: Any) -> Iterator[tuple[slice, Cone]]:
    """Clarabel's cones in the order of its rows."""
    at = 0
    for cone in _in_order(dims):
        yield slice(at, at + len(cone.inside)), cone
        at += len(cone.inside)


def _in_order(dims: Any) -> Iterator[Cone]:
    yield Cone(np.zeros(dims.zero), False, lambda z, _: z, _zero)
    yield Cone(np.ones(dims.nonneg), False, lambda z, _: np.maximum(z, 0.0), _nonnegative)
    for size in dims.soc:
        yield Cone(np.eye(1, size)[0], True, _into_second_order, _second_order)
    for order in dims.psd:
        yield _semidefinite(order)
    for _ in range(dims.exp):
        yield Cone(_CENTRE, True, _into_dual_exponential, _exponential)
    for alpha in dims.p3d:
        yield _power(np.array([alpha, 1.0 - alpha]))
    for alphas in dims.pnd:
        yield _power(np.asarray(alphas, dtype=np.float64))


def _zero(low: Floats, high: Floats) -> Interval:
    return np.zeros_like(low), np.zeros_like(high)


def _nonnegative(low: Floats, high: Floats) -> Interval:
    return np.maximum(low, 0.0), high


def _least_size(low: Floats, high: Floats) -> Floats:
    return np.maximum(np.maximum(low, -high), 0.0)


def _into_second_order(z: Floats, _: Bools) -> Floats:
    """The nearest point of the cone."""
    t, size = z[0], float(np.linalg.norm(z[1:]))
    if size <= t:
        return z
    if size <= -t:
        return np.zeros_like(z)
    half = 0.5 * (t + size)
    return np.concatenate([[half], z[1:] * (half / size)])


def _second_order(low: Floats, high: Floats) -> Interval:
    least = float(np.linalg.norm(_least_size(low[1:], high[1:])))
    reach = np.full(len(low), high[0])
    return np.concatenate([[max(low[0], least)], -reach[1:]]), reach


def _semidefinite(order: int) -> Cone:
    """Positive semidefinite matrices: the upper triangle by columns, off the diagonal times root 2.

    The same triangle is its own dual.
    """
    column, row = np.tril_indices(order)
    scale = np.where(row == column, 1.0, _ROOT2)

    def into(z: Floats, _: Bools) -> Floats:
        full = np.zeros((order, order))
        full[row, column] = full[column, row] = z / scale
        values, vectors = np.linalg.eigh(full)
        if np.all(values >= 0.0):
            return z
        full = (vectors * np.maximum(values, 0.0)) @ vectors.T
        return np.asarray(full[row, column] * scale)

    def implied(low: Floats, high: Floats) -> Interval:
        most = np.maximum(high[row == column], 0.0)
        reach = scale * _product(most[row], most[column])
        return np.where(row == column, 0.0, -reach), reach

    return Cone(np.eye(order)[row, column], True, into, implied)


def _product(a: Floats, b: Floats) -> Floats:
    """The geometric mean; zero where one is, whatever the other."""
    ends = (a == 0.0) | (b == 0.0)
    return np.where(ends, 0.0, np.sqrt(np.where(ends, 0.0, a)) * np.sqrt(np.where(ends, 0.0, b)))


def _into_dual_exponential(z: Floats, bare: Bools) -> Floats:
    """(u, v, w) with u < 0 and -u exp(v/u - 1) <= w, or u = 0 and v, w >= 0: v or w is raised."""
    u, v, w = z
    if u >= 0.0:
        return np.array([0.0, max(v, 0.0), max(w, 0.0)])
    if bare[1] and w > 0.0:
        return np.array([u, max(v, u * (1.0 + np.log(w / -u))), w])
    with np.errstate(over="ignore"):
        return np.array([u, v, max(w, -u * np.exp(v / u - 1.0))])


def _exponential(low: Floats, high: Floats) -> Interval:
    """(x, y, z) with y exp(x/y) <= z and y >= 0."""
    y = max(float(low[1]), 0.0), max(float(high[1]), 0.0)
    return (
        np.array([-np.inf, 0.0, _least_exponential(float(low[0]), *y)]),
        np.array([_most_logarithm(float(high[2]), *y), np.inf, np.inf]),
    )


def _least_exponential(x: float, low: float, high: float) -> float:
    """The least y exp(x/y) of y in an interval: at y = x, or at the end that is nearer."""
    y = float(np.clip(x, low, high)) if x > 0.0 else low
    if y == 0.0 or not np.isfinite(x):
        return 0.0
    with np.errstate(over="ignore"):
        return float(y * np.exp(x / y)) if np.isfinite(y) else 0.0


def _most_logarithm(z: float, low: float, high: float) -> float:
    """The most y log(z/y) of y in an interval: at y = z/e, or at the end that is nearer."""
    if not np.isfinite(z) or z <= 0.0:
        return np.inf if z > 0.0 else 0.0
    y = float(np.clip(z / np.e, low, high))
    return 0.0 if y == 0.0 else float(y * np.log(z / y))


def _power(alpha: Floats) -> Cone:
    """(y, z) with the product of y ** alpha at least the size of z, and y >= 0."""

    def most(y: Floats) -> float:
        if np.any(y <= 0.0):
            return 0.0
        return float(np.exp(alpha @ np.log(y))) if np.all(np.isfinite(y)) else np.inf

    def into(z: Floats, _: Bools) -> Floats:
        y = np.maximum(z[:-1], 0.0)
        return np.concatenate([y, np.clip(z[-1:], -(limit := most(y / alpha)), limit)])

    def implied(low: Floats, high: Floats) -> Interval:
        limit = most(high[:-1])
        floor, free = np.zeros(len(alpha)), np.full(len(alpha), np.inf)
        return np.concatenate([floor, [-limit]]), np.concatenate([free, [limit]])

    return Cone(np.append(np.ones(len(alpha)), 0.0), True, into, implied)

"""The end of an interior-point method on the homogeneous embedding of a program with a level.

The program raises a level l as far as A x + l c + s = b allows, with x >= 0 and s >= 0. With prices
y of the rows, and z of the columns, the embedding asks for t >= 0 and k >= 0 with

    A'y = z,  c'y = t,  A x + l c + s = t b,  b'y + k = l,

and its path for products x z, s y and t k that fall to 0 together. A method that follows it stops
as soon as the gap is small, at a solution that hangs on its start and steps. These here are those
of ECOS: its equilibration, start and correction, and one length for both sides. Columns or rows
that are alike have alike iterates. So one of them, with a weight that counts them, stands for all,
and its product aims at mu times its weight. Sources: Domahidi, Chu and Boyd, ECOS: An SOCP solver
for embedded systems, ECC 2013; Vandenberghe, The CVXOPT linear and quadratic cone program solvers,
2010, section 7.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from walras.kernels.envelope import BoundedNewton
from walras.programs.central_path import WeightedProgram
from walras.types import Floats

_PASSES = 3  # of equilibration
_NORM = 1e-6  # that it looks at
_ENOUGH = 1e-8  # gap, absolute or relative, and relative residuals
_INSIDE = 0.99  # share of a step that is gone
_LONGEST = 0.999  # step, of the way to the boundary
_STILL = 1e-4  # of mu, at least, is what a step aims at
_SHORT = 1e-6  # step that brings nothing
_MOST = 100  # steps


@dataclass(frozen=True, eq=False)
class EmbeddedEnd:
    """The end of the method.

    Attributes:
        x: (C,) the columns.
        prices: (R,) of the rows.
        steps: How many were taken.
        converged: Whether gap and residuals are as small as they should be.
    """

    x: Floats
    prices: Floats
    steps: int
    converged: bool


def end_of_embedding(program: WeightedProgram) -> EmbeddedEnd:
    """Follow the path of the embedding until gap and residuals are small.

    Args:
        program: The program. Its level is linear, and its weights are whole numbers: a column or a
            row of weight w stands for w that are alike, and is their sum. An entry is that of one
            row and one column of those.

    Returns:
        The end, that of the program with all columns and rows apart. Where it has converged, rows
        hold to within the residuals; what has to hold exactly is computed from it. With numbers
        that are too far apart it may not converge, and have NaN.

    Example:
        A job can run on two types all the time; the first has room for two of it:

        >>> import numpy as np, scipy.sparse as sp
        >>> from walras.programs.central_path import WeightedProgram, linear
        >>> from walras.programs.embedding import end_of_embedding
        >>> program = WeightedProgram(
        ...     matrix=sp.csc_array(np.array([[-1.0, -1.0], [1.0, 1.0], [2.0, 0.0]])),
        ...     level=linear(np.array([1.0, 0.0, 0.0])),
        ...     right=np.array([0.0, 1.0, 4.0]),
        ...     columns=np.ones(2),
        ...     rows=np.ones(3),
        ... )
        >>> end_of_embedding(program).x.round(3).tolist()
        [0.764, 0.236]
    """
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):  # NaN ends the method
        method = _Method(program)
        while not method.ended and method.steps < _MOST and method.step():
            pass
        return EmbeddedEnd(method.x, method.prices, method.steps, method.ended)


@dataclass(frozen=True, eq=False)
class _Step:
    """Steps of (x, l), of the slacks, of the prices, of t and of k."""

    x: Floats
    s: Floats
    y: Floats
    t: float
    k: float


class _Scales:
    """Ruiz' equilibration: factors that bring the largest entries of rows and columns to one.

    A bound x >= 0 is a row -x + s = 0 of its own.

    Attributes:
        columns: (C + 1,) factors of the columns and of the level.
        rows: (R + C,) factors of the rows and of the bounds.
    """

    def __init__(self, program: WeightedProgram) -> None:
        a, slope = program.matrix, program.level(0.0)[1] / program.rows
        rows, columns = a.shape
        level, bound = np.flatnonzero(slope), np.arange(columns)
        row = np.concatenate([a.indices, level, rows + bound])
        each = np.repeat(bound, np.diff(a.indptr))
        column = np.concatenate([each, np.full(len(level), columns), bound])
        entry = np.concatenate([np.abs(a.data), slope[level], np.ones(columns)])
        self.columns, self.rows = np.ones(columns + 1), np.ones(rows + columns)
        for _ in range(_PASSES):
            scaled = entry * self.columns[column] * self.rows[row]
            by_column, by_row = np.zeros(columns + 1), np.zeros(rows + columns)
            np.maximum.at(by_column, column, scaled)
            np.maximum.at(by_row, row, scaled)
            self.columns = self.columns / np.sqrt(_looked_at(by_column))
            self.rows = self.rows / np.sqrt(_looked_at(by_row))


def _looked_at(norm: Floats) -> Floats:
    return np.asarray(np.where(norm < _NORM, 1.0, norm))


class _Method:
    """A point of the embedding of the scaled program, and its steps.

    The bounds are rows behind the others, with slacks and prices of their own, so that (x, l) is
    free and the linear systems are of the form A'y = p, A x - diag(h) y = r.
    """

    def __init__(self, program: WeightedProgram) -> None:
        a, rows = program.matrix, len(program.right)
        scales = _Scales(program)
        self._d, self._e = scales.columns, scales.rows
        data = a.data * np.repeat(self._d[:-1], np.diff(a.indptr)) * self._e[a.indices]
        self._a = sp.csc_array((data, a.indices, a.indptr), shape=a.shape)
        self._transposed = sp.csr_array((data, a.indices, a.indptr), shape=a.shape[::-1])
        self._slope = self._e[:rows] * program.level(0.0)[1] * self._d[-1]
        self._least = self._e[rows:] * self._d[:-1]
        self._q = np.append(np.zeros(len(self._least)), -self._d[-1])
        self._b = np.append(self._e[:rows] * program.right, np.zeros(len(self._least)))
        self._w = np.concatenate([program.rows, program.columns])
        self._newton = BoundedNewton(self._a, self._slope, self._least)
        self.steps = 0
        self._start()
        self._look()

    @property
    def x(self) -> Floats:
        """(C,) the columns."""
        return np.asarray((self._d * self._x / self._t)[:-1])

    @property
    def prices(self) -> Floats:
        """(R,) prices of the rows."""
        return np.asarray((self._e * self._y / self._t)[: len(self._slope)])

    def _start(self) -> None:
        """Least squares for the slacks and for the prices, moved inside."""
        self._newton.factorise(self._w)
        self._x, priced = self._newton.solve(0.0 * self._q, self._b)
        self._s = self._w * self._inside(-priced)
        self._y = self._inside(self._newton.solve(-self._q, 0.0 * self._b)[1])
        self._t = self._k = 1.0

    def _inside(self, point: Floats) -> Floats:
        """Add what brings the least entry to one; a little where none is below 0."""
        least = float(point.min())
        if least > 0.0:
            return point + (1.0 - _INSIDE)
        return np.maximum(point + (1.0 - least), 1.0)  # the sum loses the one where least is huge

    def _look(self) -> None:
        """Compute residuals, products and mu."""
        rows, t = len(self._slope), self._t
        columns, level = self._x[:-1], self._x[-1]
        above = self._a @ columns + level * self._slope
        below = self._transposed @ self._y[:rows] - self._least * self._y[rows:]
        self._r = self._s + np.append(above, -self._least * columns) - self._b * t
        self._p = -np.append(below, self._slope @ self._y[:rows]) - self._q * t
        self._primal, self._dual = float(self._q @ self._x), -float(self._b @ self._y)
        self._g = self._primal - self._dual + self._k
        self._product, self._last = self._s * self._y, t * self._k
        self._mu = (float(self._product.sum()) + self._last) / (float(self._w.sum()) + 1.0)

    @property
    def ended(self) -> bool:
        """Whether gap and residuals are as small as they should be."""
        gap, t, w = float(self._product.sum()), self._t, self._w
        if self._primal >= 0.0 or gap >= _ENOUGH * max(1.0, -self._primal / t):
            return False
        each = np.append(w[len(self._slope) :], 1.0)
        x, y, s = _norm(self._x, each), _norm(self._y, 1.0 / w), _norm(self._s, w)
        b, q = max(1.0, _norm(self._b, w)), max(1.0, _norm(self._q, each))
        wrong, off = _norm(self._r, w) / (b + x + s), _norm(self._p, 1.0 / each) / (q + y)
        return max(wrong, off) < _ENOUGH * t

    def step(self) -> bool:
        """Mehrotra's step: how far the boundary lets one go decides how far to aim.

        Returns:
            Whether it was long enough to bring something.
        """
        self._h = self._s / self._y
        self._newton.factorise(self._h)
        self._constant = self._newton.solve(-self._q, self._b)
        to = self._direction(0.0, self._product, self._last)
        length = self._length(to)
        still = max((1.0 - length) ** 3, _STILL)
        aim = self._product + to.s * to.y - still * self._mu * self._w
        last = self._last + to.t * to.k - still * self._mu
        to = self._direction(still, aim, last)
        length = _INSIDE * self._length(to)
        if not length > _INSIDE * _SHORT:
            return False
        self._x, self._s = self._x + length * to.x, self._s + length * to.s
        self._y = self._y + length * to.y
        self._t, self._k = self._t + length * to.t, self._k + length * to.k
        self.steps += 1
        self._look()
        return True

    def _direction(self, still: float, aim: Floats, last: float) -> _Step:
        """The step that leaves the share ``still`` of the residuals, and takes the products off
        that are aimed at.
        """
        t, k, takes = self._t, self._k, 1.0 - still
        slack = aim / self._y
        x, y = self._newton.solve(takes * self._p, slack - takes * self._r)
        of_x, of_y = self._constant
        dt = takes * self._g - last / t + float(self._q @ x + self._b @ y)
        dt /= k / t - float(self._q @ of_x + self._b @ of_y)
        x, y = x + dt * of_x, y + dt * of_y
        return _Step(x, -(self._h * y + slack), y, dt, -(last + k * dt) / t)

    def _length(self, to: _Step) -> float:
        """How far one can go until an entry is 0, at most a little less than 1."""
        ends = (to.s / self._s).min(), (to.y / self._y).min(), to.t / self._t, to.k / self._k
        least = float(np.min(ends))
        if np.isnan(least):
            return 0.0
        return min(_LONGEST, -1.0 / least) if least < 0.0 else _LONGEST


def _norm(total: Floats, weight: Floats) -> float:
    """The length of a vector whose entries are sums of as many that are alike as the weight."""
    return float(np.sqrt((total * total / weight).sum()))

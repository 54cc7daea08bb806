"""The weighted central path of a program that raises a level, followed to its end.

The program is to raise a level l as far as A x + c(l) + s = b allows, with x >= 0 and s >= 0; c is
convex, and linear in a linear program. At the best there are prices with A'y = z, c'(l)·y = 1,
y >= 0 and z >= 0. With weights w > 0 of the columns and rows, the point of the path at mu > 0 has

    x_i z_i = mu w_i   and   s_r y_r = mu w_r.

It is the only maximum of l + mu (Σ w_i log x_i + Σ w_r log s_r). As mu falls to 0 it tends to the
analytic centre of the best solutions: of all of them, it has the largest Σ w log of what is not 0
throughout. Where a weight counts identical columns or rows, one of them stands for all. Sources:
Mehrotra, SIAM J. Optim. 1992; Güler, Math. Oper. Res. 1994 (limits of weighted paths); Wright,
Primal-Dual Interior-Point Methods, 1997.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from walras.kernels.envelope import BorderedNormal
from walras.types import Floats

_NEAR = 1e-5  # relative gap at which the point is centred
_CENTRED = 1e-3  # largest deviation of a product from mu times its weight, relative
_ENOUGH = 1e-8  # relative gap, and residuals, at the end
_END = 1e-4  # share of mu that the step along the tangent leaves
_INSIDE = 0.99  # share of the way to the boundary that another step goes
_MOST = 200  # steps


Level = Callable[[float], tuple[Floats, Floats, Floats]]
"""From a level to (R,) what it takes of each row, and the first and second derivatives of this."""


def linear(slope: Floats) -> Level:
    """What a level takes where each unit takes the same.

    Args:
        slope: (R,) what a unit takes, >= 0, somewhere positive.

    Returns:
        The function of the level.

    Example:
        >>> import numpy as np
        >>> from walras.programs.central_path import linear
        >>> [part.tolist() for part in linear(np.array([2.0, 0.0]))(3.0)]
        [[6.0, 0.0], [2.0, 0.0], [0.0, 0.0]]
    """
    none = np.zeros(len(slope))
    return lambda level: (level * slope, slope, none)


@dataclass(frozen=True, eq=False)
class WeightedProgram:
    """Raise a level l as far as A x + c(l) <= b allows, x >= 0.

    Attributes:
        matrix: (R, C) A; each column has a positive entry in a row without level.
        level: c, convex and increasing below the ceiling; 0 in rows without level.
        right: (R,) b >= 0; positive in rows without level.
        columns: (C,) weights, > 0.
        rows: (R,) weights, > 0.
        start: The first level.
        ceiling: The levels are below it.
    """

    matrix: sp.csc_array
    level: Level
    right: Floats
    columns: Floats
    rows: Floats
    start: float = 0.0
    ceiling: float = np.inf


@dataclass(frozen=True, eq=False)
class PathEnd:
    """The end of the path.

    Attributes:
        x: (C,) the solution.
        level: The best level.
        prices: (R,) of the rows.
        steps: How many were taken.
        converged: Whether gap and residuals are as small as they should be.
    """

    x: Floats
    level: float
    prices: Floats
    steps: int
    converged: bool


def end_of_path(program: WeightedProgram) -> PathEnd:
    """Follow the path to the analytic centre of the best solutions.

    Mehrotra's steps come near the end. Newton steps then centre the point, and one step along the
    tangent of the path ends there with an error of the order of mu².

    Args:
        program: The program.

    Returns:
        The end. Rows hold, and prices are dual feasible, to within the residuals; what has to
        hold exactly is computed from them.

    Example:
        A job can run on two types all the time, and the centre gives each half of it:

        >>> import numpy as np, scipy.sparse as sp
        >>> from walras.programs.central_path import WeightedProgram, end_of_path, linear
        >>> program = WeightedProgram(
        ...     matrix=sp.csc_array(np.array([[-1.0, -1.0], [1.0, 1.0]])),
        ...     level=linear(np.array([1.0, 0.0])),
        ...     right=np.array([0.0, 1.0]),
        ...     columns=np.ones(2),
        ...     rows=np.ones(2),
        ... )
        >>> end_of_path(program).x.round(6).tolist()
        [0.5, 0.5]
    """
    path = _Path(program)
    near = False
    for _ in range(_MOST):
        if path.ended:
            break
        near = near or path.near
        if not near:
            path.approach()
        elif path.off > _CENTRED:
            path.centre()
        else:
            path.follow_tangent()
    return PathEnd(path.x, path.level, path.y, path.steps, path.ended)


class _Path:
    """A point with u = (x, s) and v = (z, y), and its steps."""

    def __init__(self, program: WeightedProgram) -> None:
        a, b, w = program.matrix, program.right, program.columns
        self._a, self._program = a, program
        self._transposed = sp.csr_array((a.data, a.indices, a.indptr), shape=a.shape[::-1])
        self._normal = BorderedNormal(a)
        self._w = np.concatenate([w, program.rows])
        use = abs(a) @ w
        bounds = (b > 0.0) & (use > 0.0)
        share = float((b[bounds] / use[bounds]).min()) / 2
        x = share * w
        self.level, self.steps = program.start, 0
        slack = b - a @ x - program.level(self.level)[0]
        self._u = np.concatenate([x, np.maximum(slack, share * program.rows)])
        self._v = share * self._w / self._u
        self._look()

    @property
    def x(self) -> Floats:
        """(C,) the columns."""
        return np.asarray(self._u[: self._a.shape[1]])

    @property
    def y(self) -> Floats:
        """(R,) prices of the rows."""
        return np.asarray(self._v[self._a.shape[1] :])

    def _look(self) -> None:
        """Compute residuals, the gap, and the largest deviation from the path."""
        count, program = len(self.x), self._program
        takes, self._slope, self._bend = program.level(self.level)
        self._r = program.right - self._a @ self.x - takes - self._u[count:]
        self._e = self._transposed @ self.y - self._v[:count]
        self._f = 1.0 - float(self._slope @ self.y)
        self._product = self._u * self._v
        self._gap = float(self._product.sum())
        self._mu = self._gap / float(self._w.sum())
        self.off = float(np.abs(self._product / (self._mu * self._w) - 1.0).max())

    @property
    def near(self) -> bool:
        """Whether the gap is small enough to centre the point."""
        return self._gap <= _NEAR * abs(self.level)

    @property
    def ended(self) -> bool:
        """Whether the gap and the residuals are as small as they should be."""
        wrong = max(np.abs(self._r).max(), np.abs(self._e).max(), abs(self._f))
        return bool(self._gap <= _ENOUGH * abs(self.level) and wrong <= _ENOUGH)

    def approach(self) -> None:
        """Mehrotra's step: how far the boundary lets one go decides how far to aim."""
        self._factorise()
        du, dv, _ = self._direction(-self._product)
        p, q = min(1.0, _longest(self._u, du)), min(1.0, _longest(self._v, dv))
        left = float((self._u + p * du) @ (self._v + q * dv)) / self._gap
        self._go(left**3 * self._mu * self._w - self._product - du * dv, _INSIDE)

    def centre(self) -> None:
        """Newton's step towards the point of the path with the same mu."""
        self._factorise()
        self._go(self._mu * self._w - self._product, _INSIDE)

    def follow_tangent(self) -> None:
        """A step along the tangent of the path to its end."""
        self._factorise()
        self._go(-self._product, 1.0 - _END)

    def _factorise(self) -> None:
        ratio, count = self._u / self._v, len(self.x)
        bend = float(self._bend @ self.y)
        self._normal.factorise(ratio[:count], ratio[count:], self._slope, bend)

    def _direction(self, target: Floats) -> tuple[Floats, Floats, float]:
        """Steps du, dv and of the level: u dv + v du = target, and no residual is left."""
        count, u, v = len(self.x), self._u, self._v
        aim = target / v
        right = self._a @ (aim[:count] - u[:count] / v[:count] * self._e) + aim[count:] - self._r
        found = self._normal.solve(np.append(right, self._f))
        dv = np.concatenate([self._transposed @ found[:-1] + self._e, found[:-1]])
        return aim - u / v * dv, dv, -float(found[-1])

    def _go(self, target: Floats, inside: float) -> None:
        du, dv, rise = self._direction(target)
        p = min(1.0, inside * _longest(self._u, du))
        q = min(1.0, inside * _longest(self._v, dv))
        if rise > 0.0:
            p = min(p, inside * (self._program.ceiling - self.level) / rise)
        self._u, self._v = self._u + p * du, self._v + q * dv
        self.level += p * rise
        self.steps += 1
        self._look()


def _longest(point: Floats, step: Floats) -> float:
    """How far one can go until an entry is 0."""
    least = float((step / point).min())
    return -1.0 / least if least < 0.0 else float("inf")

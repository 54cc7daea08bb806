"""The bound of a conic program from the prices of its rows, recomputed.

For s = b - Ax in K and any z in the dual cone, z's >= 0. So for any point w

    1/2 x'Px + q'x >= -1/2 w'Pw - b'z + r'x   with  r = Pw + q + A'z,

and r'x is at least its least value over intervals that hold every feasible x: those which rows and
cones imply. At z = 0 and w = 0 that is the trivial bound; at an optimal z, where r is zero, the
optimum. Source: Boyd and Vandenberghe, Convex Optimization, 2004, section 5.9; implied intervals:
Savelsbergh, ORSA J. Computing 6, 1994.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spla

from walras.problem.cones import Interval, Program
from walras.types import Floats, Longs

_SWEEPS = 20  # of narrowing intervals
_WIDER = 1e-9  # relative widening of an implied interval, for rounding
_ROUNDING = 1e-13  # residual that is rounding, of the terms that cancel in it
_CORRECTIONS = 40
_REGULAR = 1e-14  # of the largest diagonal entry, for columns that no row holds
_STIFF = 1e-4  # weight of tied prices beside single ones, which leave their cone less easily
_MOST_COLUMNS = 20_000  # from which residuals are not corrected


def bound_of(program: Program, box: Interval, w: Floats, z: Floats) -> float:
    """The bound from any point and any numbers as prices; ``-inf`` where they prove nothing.

    Args:
        program: The program, of minimisation.
        box: From :func:`implied_box`.
        w: (columns,) a point; needed where the objective is quadratic.
        z: (rows,) prices.
    """
    if not (np.all(np.isfinite(w)) and np.all(np.isfinite(z))):
        return -np.inf
    z = program.into_dual(z)
    best = _bound_at(program, box, w, z)
    corrected = _corrections(program, w, z)
    for _ in range(_CORRECTIONS):
        z = program.into_dual(corrected(z))
        if not np.all(np.isfinite(z)):
            break
        found = _bound_at(program, box, w, z)
        if np.isfinite(best) and found <= best:
            break
        best = max(best, found)
    return best


def trivial_bound(program: Program, box: Interval) -> float:
    """What the intervals of the columns alone prove."""
    columns, rows = len(program.linear), len(program.offset)
    return _bound_at(program, box, np.zeros(columns), np.zeros(rows))


def _bound_at(program: Program, box: Interval, w: Floats, z: Floats) -> float:
    bent = program.quadratic @ w
    residual = bent + program.linear + program.matrix.T @ z
    sizes = np.abs(bent) + np.abs(program.linear) + abs(program.matrix).T @ np.abs(z)
    end = np.where(residual > 0.0, box[0], box[1])
    used = (residual != 0.0) & ~(np.isinf(end) & (np.abs(residual) <= _ROUNDING * sizes))
    least = float(residual[used] @ end[used])
    return float(program.constant - 0.5 * (w @ bent) - program.offset @ z + least)


def _corrections(program: Program, w: Floats, z: Floats) -> Callable[[Floats], Floats]:
    """What moves prices least, each in its own size, so that the residual vanishes."""
    if len(program.linear) > _MOST_COLUMNS or not len(z):
        return lambda prices: prices
    weight = np.abs(z)
    for rows, cone in program.cones:
        if not np.any(cone.inside):  # of zero: their prices have any sign
            weight[rows] = max(float(np.max(weight, initial=0.0)), 1.0)
        elif cone.ties:
            weight[rows] = _STIFF * float(np.max(weight[rows], initial=0.0))
    normal = sp.csc_array(program.matrix.T @ sp.diags_array(weight) @ program.matrix)
    least = _REGULAR * (float(np.max(normal.diagonal(), initial=0.0)) or 1.0)
    solved = spla.splu(sp.csc_array(normal + least * sp.eye_array(len(w))))
    aim = program.quadratic @ w + program.linear

    def corrected(prices: Floats) -> Floats:
        step = solved.solve(aim + program.matrix.T @ prices)
        return np.asarray(prices - weight * (program.matrix @ step))

    return corrected


def implied_box(program: Program) -> Interval:
    """Intervals of the columns that hold every feasible point.

    Rows and cones narrow each other: a row whose other terms are limited limits each term.
    """
    rows = sp.csr_array(program.matrix)
    rows.sum_duplicates()
    rows.eliminate_zeros()
    at = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    a, column = rows.data, rows.indices
    low, high = program.lower.copy(), program.upper.copy()
    s_low, s_high = program.implied(
        np.full(len(program.offset), -np.inf), np.full(len(program.offset), np.inf)
    )
    for _ in range(_SWEEPS):
        term = _times(a, low[column], high[column])
        total = tuple(_Sum.of(part, at, len(s_low)) for part in term)
        s_low = np.maximum(s_low, program.offset - total[1].all())
        s_high = np.minimum(s_high, program.offset - total[0].all())
        s_low, s_high = program.implied(s_low, s_high)
        rest = total[0].without(term[0], at), total[1].without(term[1], at)
        room = (program.offset - s_high)[at] - rest[1], (program.offset - s_low)[at] - rest[0]
        own = _times(1.0 / a, room[0] - _slack(room[0]), room[1] + _slack(room[1]))
        new_low, new_high = low.copy(), high.copy()
        np.maximum.at(new_low, column, own[0])
        np.minimum.at(new_high, column, own[1])
        if np.any(new_low > new_high) or not (_moved(low, new_low) or _moved(high, new_high)):
            break
        low, high = new_low, new_high
    return low, high


def _times(a: Floats, low: Floats, high: Floats) -> Interval:
    """Intervals times numbers that are not zero."""
    return np.where(a > 0, a * low, a * high), np.where(a > 0, a * high, a * low)


def _slack(room: Floats) -> Floats:
    """What rounding may have taken."""
    return np.where(np.isinf(room), 0.0, _WIDER * (np.abs(room) + _WIDER))


def _moved(before: Floats, after: Floats) -> bool:
    with np.errstate(invalid="ignore"):
        gained = np.abs(after - before) > 1e-3 * np.abs(before)
    return bool(np.any((after != before) & (gained | ~np.isfinite(before))))


class _Sum:
    """Sums a row of terms that may be infinite, all or without one of them."""

    def __init__(self, finite: Floats, infinite: Longs, sign: float) -> None:
        self._finite, self._infinite, self._sign = finite, infinite, sign

    @classmethod
    def of(cls, terms: Floats, at: Longs, count: int) -> _Sum:
        endless = ~np.isfinite(terms)
        sign = float(np.sign(terms[endless][0])) if np.any(endless) else 1.0
        kept = np.where(endless, 0.0, terms)
        return cls(
            np.bincount(at, weights=kept, minlength=count).astype(np.float64),
            np.bincount(at[endless], minlength=count).astype(np.int64),
            sign,
        )

    def all(self) -> Floats:
        return np.where(self._infinite > 0, self._sign * np.inf, self._finite)

    def without(self, terms: Floats, at: Longs) -> Floats:
        endless = ~np.isfinite(terms)
        left = self._infinite[at] - endless
        rest = self._finite[at] - np.where(endless, 0.0, terms)
        return np.where(left > 0, self._sign * np.inf, rest)

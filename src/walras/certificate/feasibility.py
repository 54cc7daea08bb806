"""Violations of constraints, measured as solvers and users measure them.

The error of a row is ``max(a x - b, 0)``. It is compared with the row's scale, the largest of

- the sum of its terms at the point, ``sum |a_q x_q|``,
- its bounds ``|b|``,
- a *typical term*, since both may be next to nothing: ``x - 117 y <= 0`` at x = 1e-127, y = 0 is
  no broken row. It is ``min_q |a_q| min(1, s, l_q)`` with s the largest entry or scalar of the
  point that need not be an integer, and l_q the largest value that bounds or a packing row allow
  the entry: the smallest step of the row by an entry of size one, or of the problem's own sizes
  where all are smaller.

So a violation is absolute, in units of the row's smallest coefficient, for rows of small terms, and
relative for rows of large ones. A small coefficient never hides behind a large one: in
``y <= 1e9 z`` a y of 1 with z = 0 is a violation of 1, not of 1e-9. HiGHS and Clarabel measure the
same way with tolerances of 1e-7 to 1e-6 and 1e-8; here 1e-9 must be met.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from walras.certificate.contribution import FEASIBLE as FEASIBLE
from walras.certificate.contribution import excess
from walras.certificate.structure import structure
from walras.separable import Separable
from walras.types import Floats, Longs


@dataclass(frozen=True, eq=False)
class RowErrors:
    """Errors of rows, and the numbers that they are compared with.

    Attributes:
        over: (rows,) the error; 0 where a row holds.
        size: (rows,) sum of the row's terms, or its bounds, whichever is larger.
        typical: (rows,) its typical term.
    """

    over: Floats
    size: Floats
    typical: Floats

    def scale(self, share: float = 1.0) -> Floats:
        """(rows,) the denominators of violations; ``share`` is the weight of the typical term."""
        floor = np.maximum(share * self.typical, np.finfo(float).tiny)
        return np.asarray(np.maximum(self.size, floor))

    def relative(self, share: float = 1.0) -> Floats:
        """(rows,) relative violations."""
        return np.asarray(self.over / self.scale(share))


def row_errors(problem: Separable, x: Floats, t: Floats) -> RowErrors:
    """The errors of rows at a point."""
    rows = problem.rows
    used, part = used_part(problem, x)
    value = x[used]
    activity = part @ value + rows.scalar_matrix @ t
    terms = abs(part) @ np.abs(value) + np.abs(rows.scalar_matrix) @ np.abs(t)
    over, size = excess(activity, terms, rows.lower, rows.upper)
    shape = structure(problem)
    split = value if problem.integer is None else value[~problem.integer[used]]
    largest = max(np.max(np.abs(split), initial=0.0), np.max(np.abs(t), initial=0.0))
    typical = np.minimum(shape.least_term, largest * shape.least_coefficient)
    return RowErrors(np.maximum(over, 0.0), size, typical)


def activities(problem: Separable, x: Floats, t: Floats) -> Floats:
    """(rows,) what entries and scalars add up to."""
    used, part = used_part(problem, x)
    return np.asarray(part @ x[used] + problem.rows.scalar_matrix @ t)


def row_violations(problem: Separable, x: Floats, t: Floats) -> Floats:
    """The violation of each constraint row, relative to its scale.

    Args:
        problem: The problem.
        x: (entries,) allocation.
        t: (scalars,) shared scalars.

    Returns:
        (rows,) violations, 0 where a row holds.

    Example:
        >>> import walras as wl
        >>> from walras.domains import cluster_scheduling as cs
        >>> problem = cs.max_min([[2.0, 1.0], [1.0, 2.0]], [1, 1], [1, 1])
        >>> s = wl.solve(problem)
        >>> point = s.certificate
        >>> from walras.certificate import row_violations
        >>> bool((row_violations(problem, 2 * point.x, point.t) > 0).any())
        True
    """
    return row_errors(problem, x, t).relative()


def violation(problem: Separable, x: Floats, t: Floats, of_rows: Floats | None = None) -> float:
    """The largest relative violation of a constraint row or a bound; NaN if one is NaN.

    Args:
        problem: The problem.
        x: (entries,) allocation.
        t: (scalars,) scalars.
        of_rows: (rows,) result of :func:`row_violations` if it is known.

    Returns:
        The largest violation.

    Example:
        >>> import walras as wl
        >>> from walras.domains import cluster_scheduling as cs
        >>> problem = cs.max_min([[2.0, 1.0], [1.0, 2.0]], [1, 1], [1, 1])
        >>> s = wl.solve(problem)
        >>> point = s.certificate
        >>> from walras.certificate import violation
        >>> violation(problem, point.x, point.t) <= 1e-9
        True
    """
    of_rows = row_violations(problem, x, t) if of_rows is None else of_rows
    inside = (x >= problem.lower) & (x <= problem.upper)  # False for NaN
    some = np.flatnonzero(~inside)
    away = np.maximum(problem.lower[some] - x[some], x[some] - problem.upper[some])
    entries = away / (1.0 + np.abs(x[some]))
    scalars = np.maximum(problem.scalar_lower - t, t - problem.scalar_upper)
    parts = of_rows, entries, scalars / (1.0 + np.abs(t))
    return float(np.max(np.concatenate(parts), initial=0.0))


def used_part(problem: Separable, x: Floats) -> tuple[Longs | slice, sp.csc_array]:
    """The nonzero entries and their columns; most allocations are sparse."""
    used = np.flatnonzero(x != 0)
    if 2 * len(used) > len(x):
        return slice(None), problem.rows.matrix
    return used, problem.rows.matrix[:, used]

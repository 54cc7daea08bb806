"""Units in which a conic program is handed to Clarabel.

Clarabel scales rows and columns by at most four orders of magnitude. It ended far from the optimum
where an entry can be only a millionth of its row's bound. So each entry is divided by the largest
value that it can have alone, and each row by the sum of its entries after that. All factors are
powers of two, which cause no rounding. Utility rows keep their activities; their cones have scales
of their own. Upper bounds that all entries together cannot come near are left out: their prices are
zero, and rounding of those prices, times the bound, would spoil the dual bound.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from walras.certificate.structure import structure
from walras.programs.implied_bounds import least_limit, reach
from walras.separable import Separable
from walras.types import Bools, Floats

_EVEN = 2.0**10  # factors within this of one are left to Clarabel's own scaling


@dataclass(frozen=True, eq=False)
class ConicUnits:
    """A problem in units of its entries' largest values.

    Attributes:
        problem: The problem over entries ``x / entry``, its rows times ``row``.
        entry: (entries,) one unit of an entry, in the user's units.
        row: (rows,) factor of each constraint row, 1 on utilities.
    """

    problem: Separable
    entry: Floats
    row: Floats


def in_units(problem: Separable) -> ConicUnits:
    """The problem in these units; unchanged where they are near one."""
    rows = problem.rows
    entry = _power_of_two(reach(problem)) if problem.entries else np.ones(0)
    if not np.any((entry > _EVEN) | (entry < 1.0 / _EVEN)):
        return ConicUnits(problem, np.ones(problem.entries), np.ones(rows.count))
    matrix = sp.csc_array(rows.matrix @ sp.diags_array(entry))
    largest = abs(matrix).max(axis=1).toarray().ravel()
    plain = ~rows.is_utility & ~np.any(rows.scalar_matrix, axis=1) & (largest > 0)
    row = np.where(plain, 1.0 / _power_of_two(np.where(plain, largest, 1.0)), 1.0)
    scaled = replace(
        rows,
        matrix=sp.csc_array(sp.diags_array(row) @ matrix),
        lower=rows.lower * row,
        upper=np.where(_vacuous(problem), np.inf, rows.upper * row),
    )
    return ConicUnits(
        replace(
            problem,
            cost=problem.cost * entry,
            quadratic=problem.quadratic * entry * entry,
            lower=problem.lower / entry,
            upper=problem.upper / entry,
            rows=scaled,
        ),
        entry,
        row,
    )


def unit_of_worth(cost: Floats) -> float:
    """The power of two that brings the largest cost to about one; 1 if it is near one already."""
    largest = np.max(np.abs(cost), initial=0.0)
    even = largest == 0.0 or 1.0 / _EVEN <= largest <= _EVEN
    return 1.0 if even else float(_power_of_two(largest))


def _vacuous(problem: Separable) -> Bools:
    """(rows,) True on packing rows of which the entries can use a thousandth at most.

    The other rows keep the entries so small. The row that limits an entry is never among them.
    """
    rows, limiting = problem.rows, structure(problem).limiting
    limit = least_limit(problem, np.where(limiting, rows.upper, np.inf), problem.upper)
    each = np.repeat(limit, np.diff(rows.matrix.indptr))
    used = np.bincount(rows.matrix.indices, np.abs(rows.matrix.data) * each, rows.count)
    return np.asarray(limiting & (used * _EVEN <= rows.upper))


def _power_of_two(size: Floats) -> Floats:
    return np.asarray(np.exp2(np.round(np.log2(size))))

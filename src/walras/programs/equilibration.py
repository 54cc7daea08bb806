"""Units in which a conic program is handed to Clarabel.

Clarabel scales rows and columns by four orders of magnitude at most. Where entries can be a
millionth of what one of their rows allows, it ended far from the optimum: so entries are measured
by their reach, the most that each can be by itself, and rows by what they then add up. Powers of
two, which round nothing. Utilities keep their activities; their cones are scaled on their own.
Upper bounds that all entries together come nowhere near are left out: their prices are zero, and
what rounding made of those would count by the bound.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from walras.certificate.structure import structure
from walras.programs.implied_bounds import least_limit, reach
from walras.separable import Separable
from walras.types import Bools, Floats

_EVEN = 2.0**10  # what is within this of one is as good as one: Clarabel's own scaling serves


@dataclass(frozen=True, eq=False)
class ConicUnits:
    """A problem in units of its entries' reach.

    Attributes:
        problem: The problem over entries ``x / entry``, its rows times ``row``.
        entry: (entries,) what one unit of an entry is in the user's.
        row: (rows,) factor of each constraint row, 1 on utilities.
    """

    problem: Separable
    entry: Floats
    row: Floats


def in_units(problem: Separable) -> ConicUnits:
    """The problem in units of reach; as it is where these are near one."""
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
    """The power of two that brings the largest cost to one, where it is far from that; else 1."""
    largest = np.max(np.abs(cost), initial=0.0)
    even = largest == 0.0 or 1.0 / _EVEN <= largest <= _EVEN
    return 1.0 if even else float(_power_of_two(largest))


def _vacuous(problem: Separable) -> Bools:
    """(rows,) True on packing rows of which other rows leave all entries a thousandth to use.

    No row is missed: the one that limits an entry is not among them.
    """
    rows, limiting = problem.rows, structure(problem).limiting
    limit = least_limit(problem, np.where(limiting, rows.upper, np.inf), problem.upper)
    each = np.repeat(limit, np.diff(rows.matrix.indptr))
    used = np.bincount(rows.matrix.indices, np.abs(rows.matrix.data) * each, rows.count)
    return np.asarray(limiting & (used * _EVEN <= rows.upper))


def _power_of_two(size: Floats) -> Floats:
    return np.asarray(np.exp2(np.round(np.log2(size))))

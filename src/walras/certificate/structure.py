"""What a certificate needs to know of a problem's shape, found once a problem.

A *packing row* is ``a x <= b`` with a >= 0, b >= 0, no scalar, over entries that cannot be
negative: it limits each of its entries by itself, and raising its price mends any dual violation
on them. Without a lower bound (nor an equality) scaling entries down keeps it, and its price is
never negative.
"""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from walras.separable import Separable, Side

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Structure:
    """Packing rows of a problem and the one that limits each entry.

    Attributes:
        packing: (rows,) True on packing rows that have no lower bound above zero.
        cap: (entries,) packing row that limits the entry, a demand's before a resource's before a
            coupled one; -1 where there is none.
        coefficient: (entries,) the entry's coefficient in that row, 1 where there is none.
        open_rows: (rows,) True where some entry capped by the row has no upper bound of its own
            and none has one: the best price of the row is then known in closed form.
        homogeneous: Whether prices may be scaled together: no cost on entries, no utility.
    """

    packing: npt.NDArray[np.bool_]
    cap: Ints
    coefficient: Floats
    open_rows: npt.NDArray[np.bool_]
    homogeneous: bool


_known: WeakKeyDictionary[Separable, Structure] = WeakKeyDictionary()


def structure(problem: Separable) -> Structure:
    """The structure of a problem, computed at the first call."""
    found = _known.get(problem)
    if found is None:
        found = _known[problem] = _find(problem)
    return found


def _find(problem: Separable) -> Structure:
    limiting = _limiting_rows(problem)
    packing = limiting & (problem.rows.lower <= 0)
    cap, coefficient = _caps(problem, limiting)
    capped = cap >= 0
    bounded = np.isfinite(problem.upper) | (problem.quadratic > 0) | (problem.lower != 0)
    fixed = problem.lower == problem.upper
    capped &= ~fixed
    open_rows = np.zeros(problem.rows.count, dtype=bool)
    open_rows[cap[capped & ~bounded]] = True
    open_rows[cap[capped & bounded]] = False
    open_rows &= packing
    return Structure(
        packing=packing, cap=cap, coefficient=coefficient, open_rows=open_rows,
        homogeneous=not (
            np.any(problem.cost) or np.any(problem.quadratic) or np.any(problem.rows.utility)
        ),
    )


def _limiting_rows(problem: Separable) -> npt.NDArray[np.bool_]:
    rows = problem.rows
    spoiled = np.zeros(rows.count, dtype=bool)
    spoiled[rows.matrix.indices[rows.matrix.data < 0]] = True
    negative = np.flatnonzero(problem.lower < 0)
    if len(negative):
        spoiled[rows.matrix[:, negative].indices] = True
    return (
        ~spoiled & np.isfinite(rows.upper) & (rows.upper >= 0) & ~np.any(rows.scalar_matrix, axis=1)
    )


def _caps(problem: Separable, limiting: npt.NDArray[np.bool_]) -> tuple[Ints, Floats]:
    """The first packing row of each entry by preference of side."""
    matrix = problem.rows.matrix
    rank = np.array([1, 0, 2], dtype=np.int8)[problem.rows.side]
    rank[problem.rows.side == Side.DEMAND] = 0
    usable = limiting[matrix.indices] & (matrix.data > 0)
    cap = np.full(problem.entries, -1, dtype=np.int64)
    coefficient = np.ones(problem.entries)
    width = np.diff(matrix.indptr)
    for preferred in (2, 1, 0):  # later choices overwrite earlier ones
        at = np.flatnonzero(usable & (rank[matrix.indices] == preferred))
        if len(at):
            entry = np.searchsorted(matrix.indptr, at, side="right") - 1
            cap[entry] = matrix.indices[at]
            coefficient[entry] = matrix.data[at]
    cap[width == 0] = -1
    return cap, coefficient

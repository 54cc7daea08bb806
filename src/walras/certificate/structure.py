"""The structure of a problem that a certificate needs, computed once for each problem.

A *packing row* is ``a x <= b`` with a >= 0, b >= 0, no scalar, over entries that cannot be
negative: it alone limits each of its entries, and raising its price repairs any dual violation on
them. If it has no lower bound and is no equality, scaling entries down keeps it feasible, and its
price is never negative.
"""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from walras.kernels import cpu as kernels
from walras.separable import Separable, Side
from walras.types import Bools, Floats, Ints, Longs

ALL = slice(None)


@dataclass(frozen=True, eq=False)
class Structure:
    """Packing rows of a problem and the one that limits each entry.

    Attributes:
        limiting: (rows,) True on packing rows, with or without a lower bound above zero.
        packing: (rows,) True on packing rows without one.
        cap: (entries,) packing row that limits the entry: a demand's row first, then a resource's,
            then a coupled one; -1 if there is none.
        coefficient: (entries,) the entry's coefficient in that row, 1 if there is none.
        negative: (rows,) True on rows with a negative coefficient.
        exempt: (entries,) True where an upper bound or a quadratic cost of its own limits the
            entry.
        moved: (k,) entries that may be away from zero at a reduced cost of zero or more.
        open_rows: (rows,) True where no entry capped by the row has its own upper bound, and there
            is such an entry: the best price of the row then has a closed form. All are False if an
            entry is in several such rows, since their prices depend on one another.
        homogeneous: Whether prices may be scaled together: no cost on entries, no utility.
        loose: (l,) entries with one bound, no quadratic cost and no limiting row.
        free: (k,) entries without bounds and without a quadratic cost.
        free_scalars: (s,) scalars without bounds.
        free_columns: (rows, s + k) their coefficients, scalars first; None if there are none.
        holds_free: (rows,) True on rows with a coefficient in such a column.
        shares: (rows,) True on rows ``lower <= a x <= b``, lower > 0, whose entries are in no other
            row without a scalar: scaling the entries meets such a row, and its best price has a
            closed form.
        unmoved: (rows,) True on utility rows without any entry or scalar.
        least_coefficient: (rows,) size of the smallest coefficient that is not zero; 0 without any.
        least_term: (rows,) the same, each coefficient times the largest value of its entry or
            scalar, at most one.
    """

    limiting: Bools
    packing: Bools
    cap: Ints
    coefficient: Floats
    negative: Bools
    exempt: Bools
    moved: Longs
    open_rows: Bools
    homogeneous: bool
    loose: Longs
    free: Longs
    free_scalars: Longs
    free_columns: sp.csc_array | None
    holds_free: Bools
    shares: Bools
    unmoved: Bools
    least_coefficient: Floats
    least_term: Floats


_known: WeakKeyDictionary[Separable, Structure] = WeakKeyDictionary()


def structure(problem: Separable) -> Structure:
    """The structure of a problem, computed at the first call."""
    found = _known.get(problem)
    if found is None:
        found = _known[problem] = _find(problem)
    return found


def _find(problem: Separable) -> Structure:
    negative = kernels.negative_rows(problem.rows.matrix)
    limiting = _limiting_rows(problem, negative)
    packing = limiting & (problem.rows.lower <= 0)
    cap, coefficient = _caps(problem, limiting)
    lower, upper, quadratic = map(thin, (problem.lower, problem.upper, problem.quadratic))
    curved, low = quadratic > 0, lower != 0
    exempt = np.array(np.broadcast_to(np.isfinite(upper) | curved, problem.entries))
    kind = 2 - (exempt | low).view(np.int8)
    kind[np.broadcast_to(lower == upper, problem.entries)] = 0
    free, free_scalars, columns = _free_columns(problem)
    holds_free = np.zeros(problem.rows.count, dtype=bool)
    if columns is not None:
        holds_free[columns.indices] = True
    least, term = _least_terms(problem, _reach(problem, cap, coefficient))
    half_open = np.isinf(lower) != np.isinf(upper)
    return Structure(
        limiting=limiting,
        packing=packing,
        cap=cap,
        coefficient=coefficient,
        negative=negative,
        exempt=exempt,
        moved=np.flatnonzero(np.broadcast_to(curved | low, problem.entries)),
        open_rows=_open_rows(problem, packing, cap, kind),
        homogeneous=not (
            np.any(problem.cost) or np.any(problem.quadratic) or np.any(problem.rows.utility)
        ),
        loose=np.flatnonzero(half_open & ~curved & (cap < 0)),
        free=free,
        free_scalars=free_scalars,
        free_columns=columns,
        holds_free=holds_free,
        shares=_shares(problem, limiting, cap),
        unmoved=problem.rows.is_utility & (least == 0.0),
        least_coefficient=least,
        least_term=term,
    )


def thin(values: Floats) -> Floats:
    """(1,) of an array that repeats one number without storing it; another array as it is."""
    return values[:1] if values.strides == (0,) else values


def _reach(problem: Separable, cap: Ints, coefficient: Floats) -> Floats:
    """(entries,) largest value of each entry by its bounds and its packing row, at most one."""
    own = np.maximum(np.abs(thin(problem.lower)), np.abs(thin(problem.upper)))
    reach = _held(problem, cap, coefficient)
    np.minimum(reach, np.minimum(own, 1.0), out=reach)
    reach[~(reach > 0)] = 1.0
    return reach


def _least_terms(problem: Separable, reach: Floats) -> tuple[Floats, Floats]:
    """(rows,) the least of ``|a_q|`` and of ``|a_q| reach_q``, with the scalars' coefficients."""
    shared = np.abs(problem.rows.scalar_matrix)
    shared = np.min(np.where(shared > 0, shared, np.inf), axis=1, initial=np.inf)
    found = (np.minimum(own, shared) for own in kernels.least_terms(problem.rows.matrix, reach))
    least, term = (np.where(np.isfinite(each), each, 0.0) for each in found)
    return least, term


def _shares(problem: Separable, limiting: Bools, cap: Ints) -> Bools:
    """Limiting rows with a lower bound whose entries start at zero and are in no other row."""
    rows, matrix = problem.rows, problem.rows.matrix
    shares = limiting & (rows.lower > 0)
    if not np.any(shares):
        return shares
    shares &= np.bincount(matrix.indices, minlength=rows.count) > 0  # nothing can meet the others
    entry = np.repeat(np.arange(problem.entries), np.diff(matrix.indptr))
    plain = ~np.any(rows.scalar_matrix, axis=1) & ~(np.isinf(rows.lower) & np.isinf(rows.upper))
    held = np.bincount(entry[plain[matrix.indices]], minlength=problem.entries)
    tied = (held != 1) | (problem.lower != 0) | np.isfinite(problem.upper)
    tied |= (problem.quadratic > 0) | (cap < 0)
    shares[matrix.indices[tied[entry]]] = False
    return shares


def _open_rows(
    problem: Separable,
    packing: Bools,
    cap: Ints,
    kind: npt.NDArray[np.int8],
) -> Bools:
    """Packing rows that cap only unbounded entries; none if an entry is in another such row.

    Args:
        problem: The problem.
        packing: (rows,).
        cap: (entries,).
        kind: (entries,) 0 if fixed, 1 if bounded, 2 if not.
    """
    inside, capped = kernels.tallies(problem.rows.matrix.indices, cap, kind, problem.rows.count, 3)
    found = packing & (capped[:, 2] > 0) & (capped[:, 1] == 0)
    return np.asarray(found & np.array_equal(inside[found], np.sum(capped[found], axis=1)))


def _free_columns(problem: Separable) -> tuple[Longs, Longs, sp.csc_array | None]:
    """The unbounded entries and scalars, and their columns."""
    lower, upper, quadratic = map(thin, (problem.lower, problem.upper, problem.quadratic))
    unbounded = np.isinf(lower) & np.isinf(upper) & (quadratic == 0)
    free = np.flatnonzero(np.broadcast_to(unbounded, problem.entries))
    scalars = np.flatnonzero(np.isinf(problem.scalar_lower) & np.isinf(problem.scalar_upper))
    if not len(free) and not len(scalars):
        return free, scalars, None
    shared = sp.csc_array(problem.rows.scalar_matrix[:, scalars])
    return free, scalars, sp.csc_array(sp.hstack([shared, problem.rows.matrix[:, free]]))


def _limiting_rows(problem: Separable, holds_negative: Bools) -> Bools:
    rows = problem.rows
    spoiled = holds_negative | np.any(rows.scalar_matrix, axis=1)
    negative = np.flatnonzero(problem.lower < 0)
    if len(negative):
        spoiled[rows.matrix[:, negative].indices] = True
    limiting: Bools = ~spoiled & np.isfinite(rows.upper) & (rows.upper >= 0)
    return limiting


def _caps(problem: Separable, limiting: Bools) -> tuple[Ints, Floats]:
    """The first packing row of each entry, by the order of sides."""
    matrix = problem.rows.matrix
    preference = np.zeros(len(Side), dtype=np.int8)
    preference[[Side.DEMAND, Side.RESOURCE, Side.COUPLED]] = (0, 1, 2)
    rank = np.where(limiting, preference[problem.rows.side], -1).astype(np.int8)
    return kernels.first_rows(matrix.indptr, matrix.indices, matrix.data, rank)


def own_limit(problem: Separable, shape: Structure, entries: Longs | slice = ALL) -> Floats:
    """The largest value of some entries under their packing row when other entries are >= 0."""
    return _held(problem, shape.cap[entries], shape.coefficient[entries])


def _held(problem: Separable, cap: Ints, coefficient: Floats) -> Floats:
    """The room that packing rows leave to the entries that they cap; ``inf`` for others."""
    held = cap >= 0
    if np.all(held):
        out = np.take(problem.rows.upper, cap)
        return np.divide(out, coefficient, out=out)
    out = np.full(len(cap), np.inf)
    out[held] = problem.rows.upper[cap[held]] / coefficient[held]
    return out

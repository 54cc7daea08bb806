"""Repair: from an engine's point to an allocation that meets every constraint.

Entries are clipped, then scaled down until every packing row holds (each entry by the worst of its
rows). Every scalar takes its best value for the entries. Rows that scaling cannot repair
(equalities, minimums) are met by a least correction in the metric of the entries themselves, which
moves large entries and leaves zeros at zero. If the bounds of large entries are in the way, as on a
network with full links, later corrections move small entries.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spla

from walras.certificate.contribution import (
    best_scalar,
    corrected,
    finite,
    ridge,
    scalar_range,
    scale_down,
    share_factors,
    tight_errors,
)
from walras.certificate.feasibility import (
    FEASIBLE,
    RowErrors,
    activities,
    row_errors,
    used_part,
    violation,
)
from walras.certificate.structure import structure
from walras.separable import Separable, Utility
from walras.types import Floats

_AIM = 1e-9  # weight of rows' typical terms in a repair, stricter than the final measure
_SMALL_TOO = 3  # number of corrections after which small entries move more than their part
_MOST_ROWS = 20_000  # tight rows of one correction; more would take longer than a solve
_RIDGE = 1e-14  # share of the diagonal, since tight rows may be dependent


def repair(problem: Separable, x: Floats, t: Floats) -> tuple[Floats, Floats]:
    """An allocation near (x, t) that is feasible, as far as scaling and correction can make it.

    Args:
        problem: The problem.
        x: (entries,) any numbers; NaN counts as the entry's resting value.
        t: (scalars,) any numbers.

    Returns:
        x and t; :func:`violation` measures the remaining error.

    Example:
        >>> import walras as wl
        >>> from walras.domains import cluster_scheduling as cs
        >>> problem = cs.max_min([[2.0, 1.0], [1.0, 2.0]], [1, 1], [1, 1])
        >>> s = wl.solve(problem)
        >>> point = s.certificate
        >>> from walras.certificate import repair, violation
        >>> x, t = repair(problem, 1.5 * point.x, point.t)
        >>> violation(problem, x, t) <= 1e-9
        True
    """
    return repaired(problem, x, t)[:2]


def repaired(problem: Separable, x: Floats, t: Floats) -> tuple[Floats, Floats, Floats]:
    """The result of :func:`repair`, with the remaining :func:`row_violations`."""
    x = x if np.all(np.isfinite(x)) else np.nan_to_num(x, nan=0.0)
    x = np.clip(x, problem.lower, problem.upper)
    x = _shared_out(problem, scaled_down(problem, x))
    t = best_scalars(problem, x, np.nan_to_num(t, nan=0.0))
    x, errors = _without_noise(problem, x, t)
    x, t, errors = corrected((x, t, errors), partial(_excess, problem), partial(_moved, problem))
    lifted, moved_t = _lifted(problem, x, t)
    if lifted is x:
        return x, t, errors.relative()
    return lifted, moved_t, row_errors(problem, lifted, moved_t).relative()


_Point = tuple[Floats, Floats, RowErrors]  # entries, scalars, and the errors of the rows there


def _excess(problem: Separable, point: _Point) -> float:
    x, t, errors = point
    return violation(problem, x, t, errors.relative(_AIM))


def _moved(problem: Separable, point: _Point, attempt: int) -> _Point | None:
    """A point after one least correction, scaled down again and with its best scalars."""
    x, t, errors = point
    moved = _corrected(problem, x, t, errors, attempt)
    if moved is None:
        return None
    x = scaled_down(problem, np.clip(moved, problem.lower, problem.upper))
    t = best_scalars(problem, x, t)
    x, errors = _without_noise(problem, x, t)
    return x, t, errors


def _without_noise(problem: Separable, x: Floats, t: Floats) -> tuple[Floats, RowErrors]:
    """Set the entries of violated rows to rest where all terms of the row are tiny.

    A violation of 1e-27 does not count, but 1e-27 of a steep utility may have a value.
    """
    errors = row_errors(problem, x, t)
    noisy = (errors.over > FEASIBLE * errors.size) & (errors.over <= FEASIBLE * errors.scale())
    noisy &= errors.size <= FEASIBLE * errors.typical
    if not np.any(noisy):
        return x, errors
    rest = np.clip(0.0, problem.lower, problem.upper)
    met = np.unique(sp.csr_array(problem.rows.matrix)[np.flatnonzero(noisy)].indices)
    still = x.copy()
    still[met] = rest[met]
    quiet = row_errors(problem, still, t)
    worse = violation(problem, still, t, quiet.relative()) > FEASIBLE
    return (x, errors) if worse else (still, quiet)


def _lifted(problem: Separable, x: Floats, t: Floats) -> tuple[Floats, Floats]:
    """Mix in some of an equal share for everyone if a logarithm or power has activity zero.

    Mixtures of feasible allocations are feasible. Of four mixtures, the one with the highest least
    utility is taken.
    """
    rows = problem.rows
    strict = np.flatnonzero(
        (rows.utility == Utility.LOG) | ((rows.utility == Utility.POWER) & (rows.parameter > 1))
    )
    if not len(strict) or np.all(activities(problem, x, t)[strict] > 0):
        return x, t
    equal = _equal_shares(problem, x)
    best, most = x, 0.0
    for share in (1e-3, 1e-2, 0.1, 1.0):
        mixed = (1.0 - share) * x + share * equal
        least = float(np.min(activities(problem, mixed, t)[strict]))
        if least > most and violation(problem, mixed, t) <= FEASIBLE:
            best, most = mixed, least
    return (x, t) if best is x else (best, best_scalars(problem, best, t))


def _equal_shares(problem: Separable, x: Floats) -> Floats:
    """Entries that share every packing row equally: each gets the least of ``b / (a count)``."""
    packing, matrix = structure(problem).packing, problem.rows.matrix
    count = np.maximum(np.bincount(matrix.indices, minlength=problem.rows.count), 1)
    held = packing[matrix.indices]  # all its coefficients are > 0
    row = matrix.indices[held]
    entry = np.repeat(np.arange(problem.entries), np.diff(matrix.indptr))[held]
    out = np.where(np.isfinite(problem.upper), problem.upper, np.inf)
    np.minimum.at(out, entry, problem.rows.upper[row] / (matrix.data[held] * count[row]))
    return np.maximum(np.where(np.isfinite(out), out, np.maximum(x, 1.0)), problem.lower)


def scaled_down(problem: Separable, x: Floats) -> Floats:
    """The entries, scaled by the remainder of their scarcest packing row (:mod:`.structure`)."""
    used, matrix = used_part(problem, x)
    part = x[used]
    factor = scale_down(structure(problem).packing, problem.rows.upper, matrix @ part)
    over = factor < np.inf
    if not np.any(over):
        return x
    at = np.flatnonzero(over[matrix.indices])
    entry = np.searchsorted(matrix.indptr, at, side="right") - 1
    scale = np.ones(len(part))
    np.minimum.at(scale, entry, factor[matrix.indices[at]])
    out = x.copy()
    out[used] = part * scale
    return np.maximum(out, problem.lower, out=out)


def _shared_out(problem: Separable, x: Floats) -> Floats:
    """The entries of each share row (:mod:`.structure`), scaled to meet it; equal if all are 0."""
    shape, rows = structure(problem), problem.rows
    if not np.any(shape.shares):
        return x
    some = np.flatnonzero(shape.shares[np.maximum(shape.cap, 0)] & (shape.cap >= 0))
    row, weight = shape.cap[some], shape.coefficient[some]
    empty = shape.shares & (np.bincount(row, weight * x[some], rows.count) == 0)
    part = np.where(empty[row], 1.0, x[some])
    load = np.bincount(row, weight * part, rows.count).astype(np.float64)
    out = x.copy()
    out[some] = part * share_factors(shape.shares, empty, load, rows.lower, rows.upper)[row]
    return out


def best_scalars(problem: Separable, x: Floats, t: Floats) -> Floats:
    """Each scalar in turn at its cheapest value that its rows allow, with the others fixed."""
    rows = problem.rows
    t = np.clip(t, problem.scalar_lower, problem.scalar_upper)
    if not problem.scalars:
        return t
    used, part = used_part(problem, x)
    activity = part @ x[used]
    for k in range(problem.scalars):
        column = rows.scalar_matrix[:, k]
        cost = problem.scalar_cost[k]
        if cost == 0.0 or np.any(rows.is_utility & (column != 0)):
            continue
        others = activity + rows.scalar_matrix @ t - column * t[k]
        held = np.flatnonzero(column)
        allowed = scalar_range(column[held], rows.lower[held], rows.upper[held], others[held])
        bounds = problem.scalar_lower[k], problem.scalar_upper[k]
        t[k] = best_scalar(t[k], cost, bounds, allowed)
    return t


def metric(x: Floats, lower: Floats, upper: Floats, attempt: int) -> Floats:
    """(entries,) the metric D of a correction: squares of the distances that entries may move.

    The distance is that to zero. After a failed correction, which may have moved entries over their
    bounds, it is that to the bounds. Squares keep small entries in place; after several failures D
    is the distance itself.

    Args:
        x: Entries inside their bounds.
        lower: Lower bounds.
        upper: Upper bounds.
        attempt: Number of failed corrections.
    """
    room = np.minimum(np.maximum(x - lower, 0.0), 1.0 + np.abs(x))
    if attempt > 0:
        room = np.minimum(room, upper - x)
    return room if attempt >= _SMALL_TOO else room * room


def _corrected(
    problem: Separable, x: Floats, t: Floats, errors: RowErrors, attempt: int
) -> Floats | None:
    """x moved by D G'(G D G')^-1 times the errors of tight rows, D from :func:`metric`."""
    rows = problem.rows
    activity = activities(problem, x, t)
    shared = np.any(rows.scalar_matrix, axis=1)
    error, held = tight_errors(
        rows.is_utility, shared, activity, rows.lower, rows.upper, errors.scale(_AIM)
    )
    tight = np.flatnonzero(held)
    if not 0 < len(tight) <= _MOST_ROWS:
        return None
    spread = metric(x, problem.lower, problem.upper, attempt)
    part = sp.csr_array(rows.matrix.tocsr()[tight])
    weighted = part @ sp.diags_array(spread)
    system = sp.csc_array(weighted @ part.T)
    system = system + sp.diags_array(ridge(system.diagonal(), _RIDGE))
    try:
        y = spla.splu(sp.csc_array(system)).solve(error[tight])
    except RuntimeError:  # exactly singular: the rows contradict one another
        return None
    return finite(x + weighted.T @ y)

r"""The dual bound: the lower bound that any prices prove.

For prices pi of the rows the Lagrangian gives, for every feasible (x, t),

    value >= const + sum_k [- pi_k b_k or - f_k*(pi_k)] + min_t (e + E'pi)·t
                   + sum_q min_{l<=x<=u} (r_q x + h_q x^2 / 2),     r = c + G'pi

for any prices. First the prices are repaired (:mod:`.dual_repair`). Then the price of each packing
row is set in closed form: the least price at which no entry of the row has a negative reduced cost.
This is the worth of a job at the prices of the resources. The formulas of each term are in
:mod:`.contribution`, for the whole problem and for slices of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from walras.certificate.contribution import (
    ROUNDING,
    entry_points,
    payment_factor,
    row_terms,
    scalar_terms,
    share_prices,
)
from walras.certificate.dual_repair import (
    HUGE,
    balance_free,
    make_dual_feasible,
    project_signs,
    settled,
)
from walras.certificate.implied import implied
from walras.certificate.structure import Structure, own_limit, structure
from walras.kernels import cpu as kernels
from walras.separable import Separable, utility
from walras.types import Bools, Floats, Longs

_CANCELLED = 1e-9  # share of a price below which its rise has cancelled it


@dataclass(frozen=True, eq=False)
class DualBound:
    """A lower bound on the minimised value and the prices that prove it.

    Attributes:
        value: The bound; ``-inf`` when the prices prove nothing.
        prices: (rows,) the repaired prices.
        reduced: (entries,) reduced costs at the repaired prices.

    Example:
        >>> import walras as wl
        >>> from walras.domains import cluster_scheduling as cs
        >>> problem = cs.max_min([[2.0, 1.0], [1.0, 2.0]], [1, 1], [1, 1])
        >>> s = wl.solve(problem)
        >>> point = s.certificate
        >>> from walras.certificate import dual_bound
        >>> round(dual_bound(problem, point.prices).value, 6)
        -2.0
    """

    value: float
    prices: Floats
    reduced: Floats


def dual_bound(problem: Separable, prices: Floats, threads: int = 1) -> DualBound:
    """The bound that prices prove after their repair.

    If they prove nothing, zero prices may still prove something: no utility is below its least
    value, and no entry is beyond its bounds. This happens when the prices are only rounding.

    Args:
        problem: The problem.
        prices: (rows,) any numbers; numbers that are not finite count as zero.
        threads: Threads of the passes over all entries.

    Returns:
        The bound, with the repaired prices.

    Example:
        >>> import walras as wl
        >>> from walras.domains import cluster_scheduling as cs
        >>> problem = cs.max_min([[2.0, 1.0], [1.0, 2.0]], [1, 1], [1, 1])
        >>> s = wl.solve(problem)
        >>> point = s.certificate
        >>> from walras.certificate import dual_bound
        >>> round(dual_bound(problem, point.prices).value, 6)
        -2.0
    """
    shape = structure(problem)
    pi = project_signs(problem, prices)
    candidates = _candidates(problem, shape, pi)
    found = [_evaluated(problem, shape, candidate, threads) for candidate in candidates]
    if len(shape.loose) or len(shape.free):
        found += _unanswered(problem, shape, pi, threads)
    best = max(found, key=lambda bound: bound.value)
    if best.value > -np.inf:
        return best
    trivial = _evaluated(problem, shape, np.zeros_like(pi), threads, answer=False)
    return trivial if trivial.value > -np.inf else best


def _unanswered(
    problem: Separable, shape: Structure, pi: Floats, threads: int
) -> Iterator[DualBound]:
    """Bounds for prices at which unbounded entries have a reduced cost.

    The rows may imply bounds of these entries, or the reduced costs may be rounding.
    """
    low, high = (bound[: problem.entries] for bound in implied(problem))
    endless = np.isinf(low), np.isinf(high)
    for candidate in (pi, settled(problem, pi, endless)):
        yield _evaluated(problem, shape, candidate, threads, answer=False)


def _candidates(problem: Separable, shape: Structure, pi: Floats) -> Iterator[Floats]:
    """The prices as they are, and scaled to a shared scalar's cost: ``e + E'pi = 0``."""
    pi = balance_free(problem, shape, pi)
    if problem.scalars == 0:
        yield pi
        return
    scaled = _rescaled(problem, shape, pi)
    yield scaled
    if not shape.homogeneous and not np.array_equal(scaled, pi):
        yield pi


def _rescaled(problem: Separable, shape: Structure, pi: Floats) -> Floats:
    """Prices scaled to ``e + E'pi = 0`` if scaling alone can do it."""
    for k in range(problem.scalars):
        column = problem.rows.scalar_matrix[:, k]
        paid = float(column @ pi)
        if paid == 0.0:
            continue
        most = min(HUGE / float(np.max(np.abs(pi))), np.finfo(float).max)
        factor = payment_factor(float(problem.scalar_cost[k]), paid, most)
        together = shape.homogeneous and problem.scalars == 1
        pi = pi * factor if together else np.where(column != 0, pi * factor, pi)
    return pi


def _evaluated(
    problem: Separable, shape: Structure, pi: Floats, threads: int, *, answer: bool = True
) -> DualBound:
    bare = np.where(shape.open_rows | shape.shares, 0.0, pi)
    with np.errstate(over="ignore", invalid="ignore"):
        reduced = kernels.reduced_costs(problem.rows.matrix, problem.cost, bare, threads)
        bare, reduced = _share_prices(shape, bare, reduced)
        if answer:
            bare, reduced = make_dual_feasible(problem, shape, bare, reduced)
        pi, reduced = _cap_prices(problem, shape, bare, reduced, threads)
        if np.any(np.abs(pi) < _CANCELLED * np.abs(bare)):
            # Rounding lost the costs in prices that a rise has cancelled again.
            return _evaluated(problem, shape, pi, threads, answer=answer)
        value = (
            problem.constant
            + _row_terms(problem, shape, pi)
            + _scalar_terms(problem, pi)
            + _entry_terms(problem, shape, pi, reduced)
        )
    proves = np.isfinite(value) and bool(np.all(np.isfinite(reduced)))
    return DualBound(value if proves else -np.inf, pi, reduced)


def _share_prices(shape: Structure, pi: Floats, reduced: Floats) -> tuple[Floats, Floats]:
    """The best price of each share row, and the reduced costs (:func:`share_prices`)."""
    if not np.any(shape.shares):
        return pi, reduced
    some = np.flatnonzero(shape.shares[np.maximum(shape.cap, 0)] & (shape.cap >= 0))
    best, left = share_prices(shape.cap[some], shape.coefficient[some], reduced[some], len(pi))
    reduced = reduced.copy()
    reduced[some] = left
    return np.where(shape.shares, best, pi), reduced


def _cap_prices(
    problem: Separable, shape: Structure, pi: Floats, reduced: Floats, threads: int
) -> tuple[Floats, Floats]:
    """The least rise of packing rows' prices that removes capped entries' negative costs."""
    entries = shape.cap, shape.coefficient, reduced, shape.exempt
    rise = kernels.price_rise(*entries, problem.rows.count, threads)
    # Entries meet a raised row through any of its coefficients, not only as their cap.
    if np.any(rise):
        reduced = kernels.reduced_costs(problem.rows.matrix, reduced, rise, threads)
    return pi + rise, reduced


def _row_terms(problem: Separable, shape: Structure, pi: Floats) -> float:
    rows = problem.rows
    of = rows.utility, rows.weight, rows.parameter
    terms = row_terms(*of, rows.lower, rows.upper, pi)
    still = np.flatnonzero(shape.unmoved)
    if len(still):
        # The price of an empty row meets no reduced cost, so every price is a proof. The best one,
        # which may be minus infinity, proves f(0). If f(0) is infinite, the price in pi remains.
        cost = utility.value(of[0][still], of[1][still], of[2][still], np.zeros(len(still)))
        terms[still] = np.where(np.isfinite(cost), cost, terms[still])
    return float(np.sum(terms))


def _scalar_terms(problem: Separable, pi: Floats) -> float:
    slope = problem.scalar_cost + problem.rows.scalar_matrix.T @ pi
    size = np.abs(problem.scalar_cost) + np.abs(problem.rows.scalar_matrix).T @ np.abs(pi)
    low, high = problem.scalar_lower, problem.scalar_upper
    if np.any(np.isinf(np.where(slope > 0, low, high)) & (slope != 0)):
        low, high = (bound[problem.entries :] for bound in implied(problem))
    return scalar_terms(slope, size, low, high)


def _entry_terms(problem: Separable, shape: Structure, pi: Floats, reduced: Floats) -> float:
    # Entries at zero with a reduced cost >= 0 add nothing.
    counts = reduced < 0
    counts[shape.moved] = True
    some = np.flatnonzero(counts)
    r, h = reduced[some], problem.quadratic[some]

    def limit(lost: Longs) -> Floats:
        at = np.where(r[lost] < 0, own_limit(problem, shape, some[lost]), np.inf)
        if np.any(np.isinf(at)):
            low, high = implied(problem)
            beyond = np.where(r[lost] > 0, low[some[lost]], high[some[lost]])
            at = np.where(np.isinf(at), beyond, at)
        return at

    def is_rounding(lost: Longs) -> Bools:
        part = abs(problem.rows.matrix[:, some[lost]])
        size = np.abs(problem.cost[some[lost]]) + part.T @ np.abs(pi)
        return np.asarray(np.abs(r[lost]) <= ROUNDING * size)

    at = entry_points(r, h, (problem.lower[some], problem.upper[some]), limit, is_rounding)
    if np.any(np.isinf(at)):
        return -np.inf
    return float(r @ at + 0.5 * h @ (at * at))

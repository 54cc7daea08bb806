r"""The dual bound: what any prices prove about the optimum.

For prices pi of the rows the Lagrangian gives, for every feasible (x, t),

    value >= const + sum_k [- pi_k b_k or - f_k*(pi_k)] + min_t (e + E'pi)·t
                   + sum_q min_{l<=x<=u} (r_q x + h_q x^2 / 2),     r = c + G'pi

whatever the prices are. Before it is evaluated the prices are mended (:mod:`.mend`) and, in closed
form, the price of each packing row is set: the least that leaves no entry of the row with a
negative reduced cost: what a job is worth, given the prices of the resources.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from walras.certificate.dual_repair import HUGE, allowed, answered, balanced, settled
from walras.certificate.implied import implied
from walras.certificate.structure import Structure, own_limit, structure
from walras.kernels import cpu as kernels
from walras.separable import Separable, Utility, utility
from walras.types import Floats, Longs

ROUNDING = 32 * np.finfo(float).eps


@dataclass(frozen=True, eq=False)
class DualBound:
    """A lower bound on the minimised value and the prices that prove it.

    Attributes:
        value: The bound; ``-inf`` when the prices prove nothing.
        prices: (rows,) the mended prices.
        reduced: (entries,) reduced costs at the mended prices.
    """

    value: float
    prices: Floats
    reduced: Floats


def dual_bound(problem: Separable, prices: Floats, threads: int = 1) -> DualBound:
    """The bound that prices prove, after mending them.

    Where they prove nothing, as prices that are rounding do of a residual of zero, no prices may:
    no utility is below its least, and no entry beyond its bounds.

    Args:
        problem: The problem.
        prices: (rows,) any numbers; those that are not finite count as zero.
        threads: Threads of the passes over all entries.
    """
    shape = structure(problem)
    pi = allowed(problem, prices)
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
    """What prices prove where entries without a bound ask for one, if these need no other prices.

    By the bounds that the rows imply, or because what they ask for is rounding.
    """
    low, high = (bound[: problem.entries] for bound in implied(problem))
    endless = np.isinf(low), np.isinf(high)
    for candidate in (pi, settled(problem, pi, endless)):
        yield _evaluated(problem, shape, candidate, threads, answer=False)


def _candidates(problem: Separable, shape: Structure, pi: Floats) -> Iterator[Floats]:
    """The prices as they are, and scaled to what a shared scalar asks for: ``e + E'pi = 0``."""
    pi = balanced(problem, shape, pi)
    if problem.scalars == 0:
        yield pi
        return
    scaled = _rescaled(problem, shape, pi)
    yield scaled
    if not shape.homogeneous and not np.array_equal(scaled, pi):
        yield pi


def _rescaled(problem: Separable, shape: Structure, pi: Floats) -> Floats:
    """Prices scaled so that ``e + E'pi = 0`` where scaling alone can do it."""
    for k in range(problem.scalars):
        column = problem.rows.scalar_matrix[:, k]
        total, cost = float(column @ pi), float(problem.scalar_cost[k])
        if cost == 0.0 or total == 0.0 or total * cost > 0.0:
            continue
        factor = -cost / total
        largest = float(np.max(np.abs(pi)))
        if not abs(factor) <= HUGE / largest or abs(factor - 1.0) < ROUNDING:
            continue
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
            bare, reduced = answered(problem, shape, bare, reduced)
        pi, reduced = _cap_prices(problem, shape, bare, reduced, threads)
        value = (
            problem.constant
            + _row_terms(problem, shape, pi)
            + _scalar_terms(problem, pi)
            + _entry_terms(problem, shape, pi, reduced)
        )
    proves = np.isfinite(value) and bool(np.all(np.isfinite(reduced)))
    return DualBound(value if proves else -np.inf, pi, reduced)


def _share_prices(shape: Structure, pi: Floats, reduced: Floats) -> tuple[Floats, Floats]:
    """Best price of each share row: its cheapest entry, by coefficient, at a reduced cost of zero.

    The dual terms of the row and its entries are ``-p b`` with ``reduced + a p >= 0``, and those
    entries stand in no other row without a scalar whose price would have to answer.
    """
    if not np.any(shape.shares):
        return pi, reduced
    some = np.flatnonzero(shape.shares[np.maximum(shape.cap, 0)] & (shape.cap >= 0))
    row, weight = shape.cap[some], shape.coefficient[some]
    least = np.full(len(pi), np.inf)
    np.minimum.at(least, row, reduced[some] / weight)
    pi = np.where(shape.shares, -least, pi)
    reduced = reduced.copy()
    reduced[some] = np.maximum(reduced[some] - weight * least[row], 0.0)
    return pi, reduced


def _cap_prices(
    problem: Separable, shape: Structure, pi: Floats, reduced: Floats, threads: int
) -> tuple[Floats, Floats]:
    """Least rise of the packing rows' prices that leaves no uncapped negative reduced cost."""
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
        # Of a row in which nothing stands the price meets no reduced cost: all are proofs, and the
        # best, which may be minus infinity, proves f(0). Where that is infinite, pi's own remains.
        cost = utility.value(of[0][still], of[1][still], of[2][still], np.zeros(len(still)))
        terms[still] = np.where(np.isfinite(cost), cost, terms[still])
    return float(np.sum(terms))


def row_terms(
    kind: npt.NDArray[np.int8],
    weight: Floats,
    parameter: Floats,
    lower: Floats,
    upper: Floats,
    pi: Floats,
) -> Floats:
    """What each row adds to the bound at its price: ``- pi_k b_k``, or ``- f_k*(pi_k)``.

    The arrays have one shape, whatever that is.
    """
    own, out = kind != Utility.NONE, np.zeros(pi.shape)
    used = (pi != 0) & ~own
    out[used] = -pi[used] * np.where(pi > 0, upper, lower)[used]
    if np.any(own):
        out[own] = -utility.conjugate(kind[own], weight[own], parameter[own], pi[own])
    return out


def _scalar_terms(problem: Separable, pi: Floats) -> float:
    slope = problem.scalar_cost + problem.rows.scalar_matrix.T @ pi
    size = np.abs(problem.scalar_cost) + np.abs(problem.rows.scalar_matrix).T @ np.abs(pi)
    at = np.where(slope > 0, problem.scalar_lower, problem.scalar_upper)
    if np.any(np.isinf(at) & (slope != 0)):
        low, high = (bound[problem.entries :] for bound in implied(problem))
        at = np.where(slope > 0, low, high)
    free = np.isinf(at)
    # A free scalar needs slope 0; what is left of it after scaling is rounding.
    if np.any(free & ~(np.abs(slope) <= ROUNDING * size)):
        return -np.inf
    return float(np.sum(slope[~free] * at[~free]))


def _entry_terms(problem: Separable, shape: Structure, pi: Floats, reduced: Floats) -> float:
    # Entries that rest at zero with a reduced cost >= 0 add nothing.
    counts = reduced < 0
    counts[shape.moved] = True
    some = np.flatnonzero(counts)
    r, low, high = reduced[some], problem.lower[some], problem.upper[some]
    h = problem.quadratic[some]
    curved = h > 0
    at = np.where(r >= 0, low, high)
    at = np.where(curved, np.clip(-r / np.where(curved, h, 1.0), low, high), at)
    lost = np.isinf(at) & (r != 0)
    at = np.where(lost & (r < 0), own_limit(problem, shape, some), at)
    lost = np.isinf(at) & (r != 0)
    if np.any(lost):
        implied_low, implied_high = implied(problem)
        at = np.where(lost, np.where(r > 0, implied_low[some], implied_high[some]), at)
        lost = np.isinf(at) & (r != 0)
    if np.any(lost) and not _is_rounding(problem, pi, reduced, some[lost]):
        return -np.inf
    at = np.where(np.isinf(at), 0.0, at)
    return float(r @ at + 0.5 * h @ (at * at))


def _is_rounding(problem: Separable, pi: Floats, reduced: Floats, lost: Longs) -> bool:
    """Whether reduced costs that should be zero are zero up to the rounding of their terms."""
    size = np.abs(problem.cost[lost]) + abs(problem.rows.matrix[:, lost]).T @ np.abs(pi)
    return bool(np.all(np.abs(reduced[lost]) <= ROUNDING * size))

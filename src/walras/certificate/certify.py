"""The certificate of a point: its value, a bound on the optimum, and its violations."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from walras.certificate.bound import dual_bound
from walras.certificate.feasibility import FEASIBLE, activities, row_violations, violation
from walras.certificate.repair import repaired
from walras.certificate.structure import structure, thin
from walras.checks import read_only
from walras.separable import Separable, utility
from walras.short_repr import short_repr
from walras.types import Floats

PRICES = "prices"  # the source of a bound that was recomputed from the prices
_SAME = 1e-12  # relative difference below which two bounds are the same
_BROKEN = 1e-6  # violation from which a value is not the value of an allocation
LEAST_TERMS = 1e-3  # the gap's denominator is at least this share of the objective's terms


@short_repr
@dataclass(frozen=True, eq=False)
class Certificate:
    """The facts that are proved about one allocation.

    All values are those of the minimised objective; for a maximisation their sign is reversed.

    Attributes:
        x: (entries,) the repaired allocation.
        t: (scalars,) the repaired scalars.
        prices: (rows,) the repaired prices that prove the bound.
        reduced: (entries,) reduced costs at those prices.
        value: Objective at (x, t); ``inf`` outside a utility's domain.
        bound: Lower bound on every feasible value.
        gap: ``|value - bound|`` over its denominator; ``inf`` if a row is clearly violated.
        violation: Largest relative violation of a row or bound after repair.
        worst_row: The row with the largest violation.
        stationarity: Largest relative product of an entry and its reduced cost (complementarity).
        bound_source: Source of the bound: ``prices`` if it was recomputed from them, else the
            solver that gave it (``HiGHS``, ``Clarabel``, ``branch and bound``).
        gap_unit: The gap's denominator in words.
        allowed: Largest relative violation that counts as feasible.

    Example:
        >>> import walras as wl
        >>> from walras.domains import cluster_scheduling as cs
        >>> problem = cs.max_min([[2.0, 1.0], [1.0, 2.0]], [1, 1], [1, 1])
        >>> s = wl.solve(problem)
        >>> s.certificate.feasible, s.certificate.proves(1e-6), s.certificate.bound_source
        (True, True, 'prices')
    """

    x: Floats
    t: Floats
    prices: Floats
    reduced: Floats
    value: float
    bound: float
    gap: float
    violation: float
    worst_row: int
    stationarity: float
    bound_source: str = PRICES
    gap_unit: str = "of the value"
    allowed: float = FEASIBLE

    def as_read_only(self) -> Certificate:
        """The same certificate, whose arrays cannot be written to."""
        return replace(
            self,
            x=read_only(self.x),
            t=read_only(self.t),
            prices=read_only(self.prices),
            reduced=read_only(self.reduced),
        )

    @property
    def engine_bound(self) -> bool:
        """Whether the bound is a solver's own and not recomputed."""
        return self.bound_source != PRICES

    @property
    def feasible(self) -> bool:
        """Whether every constraint holds within ``allowed``: 1e-9, relative, in the form."""
        return self.violation <= self.allowed

    def proves(self, tolerance: float) -> bool:
        """Whether the allocation is feasible and within the tolerance of the optimum.

        Args:
            tolerance: Relative gap.

        Returns:
            True or False.
        """
        return self.feasible and self.gap <= tolerance


def minimised_value(problem: Separable, x: Floats, t: Floats) -> float:
    """The minimised objective at (x, t); ``inf`` outside its domain.

    Args:
        problem: The problem.
        x: (entries,) allocation.
        t: (scalars,) shared scalars.

    Returns:
        The value.

    Example:
        >>> import walras as wl
        >>> from walras.domains import cluster_scheduling as cs
        >>> problem = cs.max_min([[2.0, 1.0], [1.0, 2.0]], [1, 1], [1, 1])
        >>> s = wl.solve(problem)
        >>> point = s.certificate
        >>> from walras.certificate import minimised_value
        >>> round(minimised_value(problem, point.x, point.t), 6)
        -2.0
    """
    rows = problem.rows
    used = np.flatnonzero(x != 0)
    part = x[used]
    total = problem.constant + float(
        problem.cost[used] @ part
        + 0.5 * problem.quadratic[used] @ (part * part)
        + problem.scalar_cost @ t
    )
    own = np.flatnonzero(rows.is_utility)
    if len(own):
        y = activities(problem, x, t)[own]
        total += float(
            np.sum(utility.value(rows.utility[own], rows.weight[own], rows.parameter[own], y))
        )
    return total


_NOTHING = 1e-9  # terms that count as zero, relative to the value of one entry at its own limit
_ROUNDING = 1e-6  # bounds that count as zero, since engines prove them no better


_SMALL = 1e-3  # share of the largest coefficient; larger terms are not compared with limits


def gap_between(problem: Separable, x: Floats, t: Floats, value: float, bound: float) -> float:
    """Relative gap of a value and a bound.

    A value below its bound comes from an allocation that violates rows within the tolerance. The
    difference, at the rows' prices, counts as a gap too; it is infinite if it is more than
    rounding.

    The denominator is ``problem.gap_scale`` where the objective has a natural one (the sum of
    weights for logarithms: nats a job), else ``max(|value|, |bound|)``, but at least 1e-3 of the
    sum of the objective's terms. So a value that cancels to zero (a target that is met) does not
    make the gap infinite. If the best is to do nothing, all terms and the bound are about zero; the
    denominator is then at least the worth of a single entry or scalar at its limit, or 1 without
    any.

    Args:
        problem: The problem.
        x: (entries,) allocation.
        t: (scalars,) shared scalars.
        value: Minimised value at (x, t).
        bound: Lower bound.

    Returns:
        The relative gap.

    Example:
        >>> import walras as wl
        >>> from walras.domains import cluster_scheduling as cs
        >>> problem = cs.max_min([[2.0, 1.0], [1.0, 2.0]], [1, 1], [1, 1])
        >>> s = wl.solve(problem)
        >>> point = s.certificate
        >>> from walras.certificate import gap_between
        >>> gap_between(problem, point.x, point.t, point.value, point.bound) <= 1e-6
        True
    """
    return _gap(problem, x, t, value, bound)[0]


def _gap(problem: Separable, x: Floats, t: Floats, value: float, bound: float) -> tuple[float, str]:
    """The gap of :func:`gap_between`, and its denominator in words."""
    if not (np.isfinite(value) and np.isfinite(bound)):
        return np.inf, problem.gap_unit
    terms = objective_terms(problem, x, t) if problem.gap_scale is None else 0.0
    scale, words = _denominator(problem, value, bound, terms)
    return _over(value, bound, scale), words


def objective_terms(problem: Separable, x: Floats, t: Floats) -> float:
    """The sum of the absolute values of the objective's terms at (x, t)."""
    used = np.flatnonzero(x != 0)
    part = x[used]
    return float(
        np.abs(problem.cost[used]) @ np.abs(part)
        + problem.quadratic[used] @ (part * part)
        + np.abs(problem.scalar_cost) @ np.abs(t)
        + abs(problem.constant)
    ) + float(np.sum(_utility_sizes(problem, x, t)))


def relative_gap(problem: Separable, value: float, bound: float, terms: float) -> float:
    """The gap of :func:`gap_between` when the :func:`objective_terms` are known."""
    if not (np.isfinite(value) and np.isfinite(bound)):
        return np.inf
    return _over(value, bound, _denominator(problem, value, bound, terms)[0])


def _over(value: float, bound: float, scale: float) -> float:
    gap = abs(value - bound) / scale
    return np.inf if bound > value and gap > _BROKEN else gap


def _denominator(problem: Separable, value: float, bound: float, terms: float) -> tuple[float, str]:
    """The gap's denominator, > 0, and the denominator in words."""
    if problem.gap_scale is not None:
        return problem.gap_scale, problem.gap_unit
    unit = _unit(problem) if terms <= _SMALL * _largest_coefficient(problem) else 0.0
    unit = unit if terms <= _NOTHING * unit and abs(bound) <= _ROUNDING * unit else 0.0
    sizes = {
        problem.gap_unit: max(abs(value), abs(bound)),
        "of a thousandth of the objective's terms": LEAST_TERMS * terms,
        "of the most that one entry can bring": unit,
    }
    words = max(sizes, key=lambda name: sizes[name])  # the first of equals
    return sizes[words] or 1.0, words


def _unit(problem: Separable) -> float:
    """The largest term that one entry or scalar adds to the objective within its limits."""
    reach = np.minimum(_limit_alone(problem), np.abs(problem.upper))
    known = reach[np.isfinite(reach)]
    reach = np.where(np.isfinite(reach), reach, np.median(known) if len(known) else 1.0)
    top = np.minimum(np.abs(problem.scalar_upper), _brought(problem, reach))
    worth = (
        np.abs(problem.cost) * reach,
        problem.quadratic * reach * reach,
        np.abs(problem.scalar_cost) * top,
        _utility_sizes(problem, reach, np.abs(top)),
    )
    return max(float(np.max(part, initial=0.0)) for part in worth)


def _limit_alone(problem: Separable) -> Floats:
    """(entries,) largest value of each entry under the limiting rows when the others are zero."""
    rows, limiting = problem.rows, structure(problem).limiting
    # no coefficient is zero, and in limiting rows all are > 0
    row, a = rows.matrix.indices, rows.matrix.data
    held = np.flatnonzero(limiting[row])
    entry = np.searchsorted(rows.matrix.indptr, held, side="right") - 1
    out = np.full(problem.entries, np.inf)
    np.minimum.at(out, entry, rows.upper[row[held]] / a[held])
    return out


def _brought(problem: Separable, reach: Floats) -> Floats:
    """(scalars,) the largest gain of each scalar from one entry's limit in a row; 1 without any.

    The row with the least gain counts, since all rows must hold: a common share is as small as the
    smallest.
    """
    rows, most = problem.rows, np.zeros(problem.rows.count)
    each = np.repeat(reach, np.diff(rows.matrix.indptr))
    np.maximum.at(most, rows.matrix.indices, np.abs(rows.matrix.data) * each)
    shift = np.abs(rows.scalar_matrix)
    brought = (shift > 0) & (most[:, None] > 0)
    share = np.divide(most[:, None], shift, out=np.full_like(shift, np.inf), where=brought)
    least = np.min(share, axis=0, initial=np.inf)
    return np.asarray(np.where(np.isfinite(least), least, 1.0))


def _largest_coefficient(problem: Separable) -> float:
    weight = problem.rows.weight[problem.rows.is_utility]
    return max(
        max(float(np.max(part, initial=0.0)), -float(np.min(part, initial=0.0)))
        for part in (thin(problem.cost), problem.scalar_cost, thin(problem.quadratic), weight)
    )


def _utility_sizes(problem: Separable, x: Floats, t: Floats) -> Floats:
    """(utility rows,) size of each utility's terms before they cancel."""
    rows = problem.rows
    own = np.flatnonzero(rows.is_utility)
    if not len(own):
        return np.zeros(0)
    y = activities(problem, x, t)[own]
    sizes = utility.terms(rows.utility[own], rows.weight[own], rows.parameter[own], y)
    return np.asarray(sizes, dtype=np.float64)


def certify(
    problem: Separable,
    x: Floats,
    t: Floats,
    prices: Floats,
    engine_bound: float = -np.inf,
    threads: int = 1,
    source: str = "",
) -> Certificate:
    """Repair a point, bound the optimum from prices, and measure the gap.

    Args:
        problem: The problem.
        x: (entries,) allocation, any numbers.
        t: (scalars,) any numbers.
        prices: (rows,) any numbers.
        engine_bound: A bound that an engine proved by branching; the better bound is used.
        threads: Threads of the passes over all entries.
        source: Name of the solver that proved ``engine_bound``.

    Returns:
        The certificate.

    Example:
        >>> import walras as wl
        >>> from walras.domains import cluster_scheduling as cs
        >>> problem = cs.max_min([[2.0, 1.0], [1.0, 2.0]], [1, 1], [1, 1])
        >>> s = wl.solve(problem)
        >>> point = s.certificate
        >>> from walras.certificate import certify
        >>> certify(problem, point.x, point.t, point.prices).proves(1e-6)
        True
    """
    x, t, rows = repaired(problem, x, t)
    if problem.integer is not None:
        x = np.where(problem.integer, np.round(x), x)
        rows = row_violations(problem, x, t)
    value = minimised_value(problem, x, t)
    proved = dual_bound(problem, prices, threads)
    # If the prices prove the bound up to rounding, no solver has to be trusted.
    slack = _SAME * max(abs(proved.value), abs(engine_bound)) if np.isfinite(proved.value) else 0.0
    is_engines = engine_bound > proved.value + slack
    bound = engine_bound if is_engines else proved.value
    moved = np.flatnonzero((x != problem.lower) | (proved.reduced < 0))
    away = np.minimum(x[moved] - problem.lower[moved], problem.upper[moved] - x[moved])
    away = np.where(np.isfinite(away), away, np.abs(x[moved]))
    products = np.abs(proved.reduced[moved]) * away
    far = violation(problem, x, t, rows)
    gap, unit = _gap(problem, x, t, value, bound)
    return Certificate(
        x=x,
        t=t,
        prices=proved.prices,
        reduced=proved.reduced,
        value=value,
        bound=bound,
        gap=gap if far <= _BROKEN else np.inf,
        violation=far,
        worst_row=int(np.argmax(rows)) if len(rows) else -1,
        stationarity=float(np.max(products, initial=0.0)) / max(abs(value), 1.0)
        if np.isfinite(value)
        else np.inf,
        bound_source=source or "the engine" if is_engines else PRICES,
        gap_unit=unit,
    )

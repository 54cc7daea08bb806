"""Which entries are in use and which rows bind, told apart by complementarity.

Of an entry's amount and its reduced cost one is zero at the optimum, and so of a row's slack and
its price. Numbers are never quite zero, so both of a pair are put as shares - an amount of what
the entry can be, a reduced cost of the terms it adds up, a slack of the row's size, a price of the
objective - and the smaller of the two counts as the zero.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from walras.certificate import Certificate
from walras.separable import Separable, Side, utility
from walras.separable.amounts import bound_of_one
from walras.separable.rows import bound_sizes
from walras.types import Bools, Floats

_NOTHING = 1e-9  # shares below this are zero whatever their partner is


@dataclass(frozen=True, eq=False)
class Active:
    """What is in use at a certified point.

    Attributes:
        entries: (entries,) True on those strictly between their bounds.
        scalars: (scalars,) the same.
        rows: (rows,) True on constraint rows that bind and have a price.
        prices: (rows,) prices, zero on constraint rows that do not bind.
        activity: (rows,) y = G x + E t.
        slack: (rows,) distance to the bound that the price refers to, else to the nearer one.
        reach: (entries,) size against which an entry's amount is measured.
        size: (rows,) size against which a row's slack is measured.
        worth: Size of the objective against which prices are measured, > 0.
    """

    entries: Bools
    scalars: Bools
    rows: Bools
    prices: Floats
    activity: Floats
    slack: Floats
    reach: Floats
    size: Floats
    worth: float


def active(problem: Separable, certificate: Certificate) -> Active:
    """Tell what is in use from what is not."""
    rows, x, t, p = problem.rows, certificate.x, certificate.t, certificate.prices
    activity = rows.matrix @ x + rows.scalar_matrix @ t
    size = _row_size(problem, certificate)
    worth = objective_size(problem, certificate, activity)
    bound = np.where(p > 0, rows.upper, np.where(p < 0, rows.lower, np.inf))
    near = np.minimum(rows.upper - activity, activity - rows.lower)
    slack = np.maximum(np.where(np.isfinite(bound), np.abs(bound - activity), near), 0.0)
    price_share = np.abs(p) * size / worth
    binds = ~rows.is_utility & (price_share > np.maximum(slack / size, _NOTHING))
    reach = _reach(problem, x)
    direct = np.abs(problem.cost) + problem.quadratic * np.abs(x)
    reduced = certificate.reduced + problem.quadratic * x
    terms = direct + abs(rows.matrix).T @ np.abs(p)
    return Active(
        entries=_between(x, problem.lower, problem.upper, reach, reduced, terms, worth),
        scalars=_between(
            t,
            problem.scalar_lower,
            problem.scalar_upper,
            np.maximum(np.abs(t), 1e-300),
            problem.scalar_cost + rows.scalar_matrix.T @ p,
            np.abs(problem.scalar_cost) + np.abs(rows.scalar_matrix).T @ np.abs(p),
            worth,
        ),
        rows=binds,
        prices=np.where(binds | rows.is_utility, p, 0.0),
        activity=activity,
        slack=slack,
        reach=reach,
        size=size,
        worth=worth,
    )


def objective_size(problem: Separable, certificate: Certificate, activity: Floats) -> float:
    """Size of the objective: the largest of its terms in absolute value, 1 if all are zero."""
    rows, x, t = problem.rows, certificate.x, certificate.t
    own = rows.is_utility
    # Of a utility the term is what its activity is worth at the margin: log y may be zero.
    worth = utility.margin(rows.utility[own], rows.weight[own], rows.parameter[own], activity[own])
    terms = (
        np.abs(problem.cost) @ np.abs(x)
        + problem.quadratic @ (x * x)
        + np.abs(problem.scalar_cost) @ np.abs(t)
        + float(np.sum(np.abs(worth[np.isfinite(worth)])))
    )
    value = certificate.value if np.isfinite(certificate.value) else 0.0
    return float(max(terms, abs(value) if not np.any(own) else 0.0)) or 1.0


def resource_prices(problem: Separable, prices: Floats, t: Floats) -> Floats:
    """Sum the prices of each resource's own constraint rows: the value of one more unit of it.

    Args:
        problem: The problem.
        prices: (rows,) prices of bounds.
        t: (scalars,) the shared scalars, which multiply the amount in some rows.

    Returns:
        (resources,) prices.

    Example:
        >>> import walras as wl
        >>> from walras.domains import cluster_scheduling as cs
        >>> problem = cs.max_min([[2.0, 1.0], [1.0, 2.0]], [1, 1], [1, 1])
        >>> s = wl.solve(problem)
        >>> point = s.certificate
        >>> from walras.explain import resource_prices
        >>> resource_prices(problem, point.prices, point.t).shape
        (2,)
    """
    rows = problem.rows
    own = (rows.side == Side.RESOURCE) & ~rows.is_utility & (rows.owner >= 0)
    of_one = prices[own] * bound_of_one(rows, t)[own]
    total = np.bincount(rows.owner[own], weights=of_one, minlength=problem.shape[0])
    return total.astype(np.float64)


def _between(
    at: Floats,
    low: Floats,
    high: Floats,
    reach: Floats,
    reduced: Floats,
    terms: Floats,
    worth: float,
) -> Bools:
    away = np.minimum(np.minimum(at - low, high - at), reach)
    # What the entry is worth at its reach, of its terms and the objective: reaches may be tiny.
    missed = np.abs(reduced) * reach / np.maximum(terms * reach, _NOTHING * worth)
    share: Bools = away / reach > np.maximum(missed, _NOTHING)
    return share


def _reach(problem: Separable, x: Floats) -> Floats:
    """(entries,) width of an entry's bounds, where that is infinite the largest amount there is."""
    largest = float(np.max(np.abs(x), initial=0.0)) or 1.0
    width = problem.upper - problem.lower
    return np.where(np.isfinite(width) & (width > 0), np.minimum(width, largest), largest)


def _row_size(problem: Separable, certificate: Certificate) -> Floats:
    """(rows,) the larger of a row's bound and of the terms it adds up."""
    rows = problem.rows
    terms = abs(rows.matrix) @ np.abs(certificate.x)
    terms = terms + np.abs(rows.scalar_matrix) @ np.abs(certificate.t)
    terms = np.maximum(terms, bound_sizes(rows.lower, rows.upper))
    return np.where(terms > 0, terms, 1.0)

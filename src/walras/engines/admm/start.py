r"""The first penalty and the first point.

A start may be an allocation without prices. Its prices are then estimated. At an optimum an entry
in use has no reduced cost, and a row with slack has no price. Near an optimum these products are
small, so their sum of squares is minimised: with slacks s and reduced costs r = c + G'p,

    minimise  sum_q (x_q r_q)^2 + sum_k (s_k p_k)^2    subject, about, to  e + E'p = 0,

by LSQR (Paige and Saunders 1982), in units of each price. Utilities have the price f'(y).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spla

from walras.certificate.bound import dual_bound
from walras.certificate.certify import gap_between, minimised_value
from walras.certificate.dual_repair import project_signs
from walras.certificate.repair import best_scalars, repair, scaled_down
from walras.certificate.structure import structure
from walras.engines.admm.entries import gathered
from walras.engines.admm.form import Form
from walras.engines.admm.option_groups import StartPrices
from walras.programs.implied_bounds import equal_shares, least_limit
from walras.separable import Separable, Utility, utility
from walras.settings import Start
from walras.types import Floats

_RULE = StartPrices()


@dataclass(frozen=True, eq=False)
class Beginning:
    """The first point and the first penalty.

    Attributes:
        x: (entries,) in the form's order.
        price: (groups, K) prices of the groups' rows.
        pull: (narrow,) prices of the narrow rows.
        own: (own,) prices of the demands' own narrow rows.
        t: The shared scalar.
        rho: The penalty.
    """

    x: Floats
    price: Floats
    pull: Floats
    own: Floats
    t: float
    rho: float


def beginning(
    form: Form, start: Start | None, rho: float | None, rule: StartPrices = _RULE
) -> Beginning:
    """The first point: equal shares without prices, or a warm start in the problem's own terms.

    Args:
        form: The split problem.
        start: The warm start, if any.
        rho: The penalty, or None: from the data.
        rule: When prices are estimated for an allocation without prices.
    """
    problem = form.problem
    shares = equal_shares(problem)
    rho = first_rho(form, shares) if rho is None else rho
    falling = np.isin(problem.rows.utility, (Utility.LOG, Utility.POWER))
    price = np.where(falling, -1.0, 0.0)  # Newton's method finds the scale
    if start is not None:
        known = len(start.x)
        shares[:known] = np.where(np.isfinite(start.x), start.x, shares[:known])
        shares = _held(problem, shares)
        price = _worth_more(problem, _given(problem, start, shares, rule), price)
    padded = np.append(price, 0.0)  # for row number -1
    t = best_scalars(problem, shares, np.zeros(problem.scalars))
    scalar = float(t[0]) if problem.scalars else 0.0
    return Beginning(
        gathered(shares, form.order),
        padded[form.groups.source],
        padded[form.narrow.source],
        padded[form.own.source],
        scalar,
        rho,
    )


def _held(problem: Separable, x: Floats) -> Floats:
    """The given allocation, scaled into the rows' limits to shorten the way from outside."""
    most = np.where(structure(problem).limiting, problem.rows.upper, np.inf)
    return scaled_down(problem, np.minimum(x, least_limit(problem, most, problem.upper)))


def _given(problem: Separable, start: Start, x: Floats, rule: StartPrices) -> Floats:
    """The prices of a start; estimated ones if it has none.

    Estimated prices are used only if they prove that the start is near an optimum.
    """
    if np.any(np.isfinite(start.prices)) or problem.rows.matrix.nnz > rule.coefficients:
        return start.prices
    x, t = repair(problem, x, np.zeros(problem.scalars))
    found = complementary_prices(problem, x, t, rule)
    value, bound = minimised_value(problem, x, t), dual_bound(problem, found).value
    near = gap_between(problem, x, t, value, bound) <= rule.gap
    return found if near else np.full(len(found), np.nan)


def _worth_more(problem: Separable, given: Floats, price: Floats) -> Floats:
    """The given prices where finite, unless they prove less than the prices of a cold start.

    Prices of another objective, or in other units, prove less.
    """
    known = np.append(given, price[len(given) :])
    usable = np.isfinite(known) & ((price == 0.0) | (known < 0.0))
    warm = project_signs(problem, np.where(usable, known, price))
    if np.array_equal(warm, price):
        return price
    return warm if dual_bound(problem, warm).value >= dual_bound(problem, price).value else price


def first_rho(form: Form, x: Floats) -> float:
    """A penalty at which moving x costs as much as the objective is worth.

    An optimal allocation uses about as many entries as there are rows. At equal totals its squares
    are then larger by the ratio of entries to rows. The published scheme has copies of a scalar
    under the same penalty in other units; it takes the mean of both orders.
    """
    problem, entries = form.problem, form.entries
    t = best_scalars(problem, x, np.zeros(problem.scalars))
    worth = float(np.abs(problem.cost) @ np.abs(x) + problem.quadratic @ (x * x))
    worth += float(np.abs(problem.scalar_cost) @ np.abs(t))
    rows = problem.rows
    worth += float(np.sum(rows.weight[rows.is_utility]))
    inside = gathered(x, form.order)
    square = float(entries.weight @ (inside * inside)) * max(
        problem.entries / max(rows.count, 1), 1.0
    )
    rho = worth / square if worth > 0 and square > 0 else 1.0
    if problem.scalars and problem.entries > form.asked_entries and t[0] != 0.0:
        rho = float(np.sqrt(rho * np.abs(problem.scalar_cost[0] / t[0])))
    return rho


def complementary_prices(
    problem: Separable, x: Floats, t: Floats, rule: StartPrices = _RULE
) -> Floats:
    """(rows,) estimated prices for an allocation, of any sign.

    Args:
        problem: The problem.
        x: (entries,) the allocation, within the rows.
        t: (scalars,) its scalars.
        rule: Steps of the fit, and the weight of scalars in it.
    """
    rows, matrix = problem.rows, problem.rows.matrix
    y = matrix @ x + rows.scalar_matrix @ t
    prices = _slopes(problem, y)
    slack = np.maximum(np.minimum(rows.upper - y, y - rows.lower), 0.0)
    held = np.flatnonzero(~rows.is_utility & np.isfinite(slack))
    used = np.flatnonzero((x > problem.lower) & (x < problem.upper) & (x != 0.0))
    cost = (problem.cost + problem.quadratic * x + matrix.T @ prices)[used]
    size = sp.diags_array(x[used])
    parts = [size @ matrix[:, used].T.tocsr()[:, held], sp.diags_array(slack[held])]
    right = [-x[used] * cost, np.zeros(len(held))]
    if problem.scalars:
        weight = rule.scalar_weight * np.maximum(np.abs(t), np.finfo(float).tiny)
        parts.append(sp.diags_array(weight) @ sp.csr_array(rows.scalar_matrix[held].T))
        right.append(-weight * (problem.scalar_cost + rows.scalar_matrix.T @ prices))
    system = sp.csr_array(sp.vstack(parts))
    unit = np.sqrt(np.asarray(system.power(2).sum(axis=0)).ravel())
    unit = np.where(unit > 0, unit, 1.0)
    found = spla.lsqr(
        system @ sp.diags_array(1.0 / unit), np.concatenate(right), iter_lim=rule.steps
    )
    prices[held] = found[0] / unit
    return prices


def _slopes(problem: Separable, y: Floats) -> Floats:
    """(rows,) f'(y) of the utilities; zero elsewhere and where it is infinite."""
    rows, out = problem.rows, np.zeros(problem.rows.count)
    own = rows.is_utility
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = utility.slope(rows.utility[own], rows.weight[own], rows.parameter[own], y[own])
    out[own] = np.where(np.isfinite(slope), slope, 0.0)
    return out

"""What one more unit of a resource is worth, and how far that price holds."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd

from walras.certificate import Certificate, dual_bound
from walras.errors import InputError
from walras.explain.active import Active, active
from walras.explain.one_sided_prices import MOST, NEAR, price_ends
from walras.explain.sensitivity import Move, Sensitivity
from walras.separable import Separable, Side
from walras.separable.amounts import bound_of_one, scalar_of_amount, scaled_amounts
from walras.types import Bools, Floats, Longs

_HOLDS = 0.1  # relative change of a price up to which it holds, where prices are curved
_STEADY = 1e-6  # relative change of a price, for a change of the bound by its size, that is none
_SURE = 0.5  # share of the distance to other entries or rows, found along a line, that is sure
_STRAIGHT = 1e-9  # exponents below this are taken for zero
_LARGEST = math.log(np.finfo(float).max)
_JUMP = 1e-4  # relative distance of a row's two prices that is a kink
_BASIS = np.array(["exact range", "10 % change", "at least", "kink"])
_EXACT, _CHANGE, _LEAST, _KINK = range(4)


def worth(problem: Separable, certificate: Certificate) -> pd.DataFrame:
    """What one more unit of each resource buys, and how far its price holds.

    Args:
        problem: The problem.
        certificate: Its certified point, near the optimum.

    Returns:
        One row a constraint row of a resource, with columns ``row``; ``price`` (the user's
        objective a unit of the amount: of the bound, or, in a row ``load <= amount t`` with a
        shared scalar t, of what multiplies it); ``price_up`` and ``price_down`` (what the next
        unit buys, and what the last one bought: the price itself, but at a kink); ``utilisation``
        (activity over amount); ``gain_of_one`` (what a unit more gains at most over the present
        allocation, proved by weak duality; where the amount multiplies a scalar NaN beyond 50,000
        coefficients); ``holds_up`` and ``holds_down`` (units by which the amount may be loosened or
        tightened while the price holds); ``basis`` of these:

        - ``exact range``: the price does not change until other entries or rows come into use
          (certain, and complete where the optimum is a vertex);
        - ``10 % change``: utilities are curved, or the amount multiplies a scalar, so the price
          changes at once; by 10 % over the range, by the power law with the price's own slope and
          curvature;
        - ``at least``: the same, but an entry runs out or a row begins to bind first, where the
          range is cut: up to there the price changes by less than 10 %, beyond perhaps faster; or
          entries or rows stand at the very edge of coming into use, a side's range is not found and
          is given as 0, and ``price_up`` and ``price_down`` hold at least for a little;
        - ``kink``: the price jumps here, and ``price`` is one of those between the two sides' (not
          computed, NaN, beyond 50,000 coefficients).

    Raises:
        InputError: The problem has no rows at all, as outside the separable form.

    Example:
        >>> import walras as wl
        >>> from walras.domains import cluster_scheduling as cs
        >>> problem = cs.max_min([[2.0, 1.0], [1.0, 2.0]], [1, 1], [1, 1])
        >>> s = wl.solve(problem)
        >>> from walras.explain import worth
        >>> worth(problem, s.certificate)[["row", "utilisation"]].round(2)
                   row  utilisation
        0  capacity[0]          1.0
        1  capacity[1]          1.0
    """
    rows = problem.rows
    _refuse_without_rows(problem)
    mine = np.flatnonzero((rows.side == Side.RESOURCE) & ~rows.is_utility)
    state = active(problem, certificate)
    prices, one = certificate.prices[mine], bound_of_one(rows, certificate.t)[mine]
    at_upper = np.where(prices != 0, prices > 0, np.isfinite(rows.upper[mine]))
    sense = np.where(at_upper, 1.0, -1.0)
    load, amount = _amounts(problem, certificate, state, mine, at_upper)
    up, down, basis = _ranges(problem, certificate, state, mine, sense, load)
    ends = _sides(problem, certificate, state, mine, sense, np.minimum(up, down))
    jumps = ~np.isclose(ends[0], ends[1], rtol=_JUMP, atol=0.0)
    up, down = np.where(jumps, 0.0, up), np.where(jumps, 0.0, down)
    edge = (np.minimum(up, down) * one <= NEAR * state.size[mine]) & state.rows[mine]
    basis[edge & (basis == _EXACT)] = _LEAST
    basis[jumps] = _KINK
    return pd.DataFrame(
        {
            "row": [rows.name(int(k)) for k in mine],
            "price": np.abs(prices) * one,
            "price_up": ends[0] * one,
            "price_down": ends[1] * one,
            "utilisation": load / np.where(amount != 0, amount, np.nan),
            "gain_of_one": _gains(problem, certificate, mine),
            "holds_up": up,
            "holds_down": down,
            "basis": _BASIS[basis],
        }
    )


def _refuse_without_rows(problem: Separable) -> None:
    if not problem.rows.count:
        raise InputError(
            "the problem has no resources whose units could be worth something",
            where="worth",
            allowed="problems with rows in the separable form",
            remedy="read the constraints' dual values, or state the problem in the separable form",
        )


def _amounts(
    problem: Separable, certificate: Certificate, state: Active, mine: Longs, at_upper: Bools
) -> tuple[Floats, Floats]:
    """(rows,) what is used of each row's amount, and the amount."""
    rows, t = problem.rows, certificate.t
    allowed, one = scaled_amounts(rows, t)[mine], bound_of_one(rows, t)[mine]
    amount = np.where(at_upper, rows.upper[mine], rows.lower[mine])
    scaled = np.divide(allowed, one, out=np.zeros(len(mine)), where=one > 0)
    return state.activity[mine] + allowed, np.where(allowed != 0, scaled, amount)


def _gains(problem: Separable, certificate: Certificate, mine: Longs) -> Floats:
    """(rows,) what a unit more of each gains at most over the present value, by weak duality.

    The bound at the same prices falls by the price; where the amount multiplies a scalar, the
    prices of the problem with a unit more are scaled to suit it and prove its bound.
    """
    proved = dual_bound(problem, certificate.prices)
    short = max(certificate.value - proved.value, 0.0)
    gain = np.abs(proved.prices[mine]) + short
    scalar = scalar_of_amount(problem.rows)[mine]
    if problem.rows.matrix.nnz > MOST:
        return np.where(scalar >= 0, np.nan, gain)
    for k in np.flatnonzero((scalar >= 0) & (certificate.prices[mine] != 0)):
        more = problem.rows.scalar_matrix.copy()
        more[mine[k], scalar[k]] -= 1.0
        rows = replace(problem.rows, scalar_matrix=more)
        bound = dual_bound(replace(problem, rows=rows), certificate.prices).value
        gain[k] = max(certificate.value - bound, 0.0)
    return gain


def _sides(
    problem: Separable,
    certificate: Certificate,
    state: Active,
    mine: Longs,
    sense: Floats,
    holds: Floats,
) -> tuple[Floats, Floats]:
    """(rows,) prices of the bound's next and last unit; they differ where no range holds."""
    up = np.abs(certificate.prices[mine])
    down = up.copy()
    kinks = np.flatnonzero(
        (holds <= NEAR * state.size[mine]) & (state.slack[mine] <= NEAR * state.size[mine])
    )
    if len(kinks) and problem.rows.matrix.nnz > MOST:
        up[kinks] = down[kinks] = np.nan
    elif len(kinks):
        ends = price_ends(problem, certificate, state, mine[kinks], sense[kinks])
        up[kinks], down[kinks] = ends
    return up, down


def _ranges(
    problem: Separable,
    certificate: Certificate,
    state: Active,
    mine: Longs,
    sense: Floats,
    load: Floats,
) -> tuple[Floats, Floats, Longs]:
    """How far each row's amount may be loosened and tightened, and the basis of that.

    ``sense`` is +1 where loosening raises the bound, -1 where it lowers it; ``load`` is what is
    used of the amount.
    """
    one = bound_of_one(problem.rows, certificate.t)[mine]
    scalar = scalar_of_amount(problem.rows)[mine]
    up, down = np.full(len(mine), np.inf), np.full(len(mine), np.inf)
    np.divide(state.slack[mine], one, out=down, where=one > 0)
    basis = np.full(len(mine), _EXACT)
    binding = np.flatnonzero(state.rows[mine])
    if not len(binding):
        return up, down, basis
    system = Sensitivity.of(problem, certificate, state)
    for k in binding:
        move = system.move(int(mine[k]))
        if move is None:  # another row holds the same entries: the price is of both together
            up[k] = down[k] = 0.0
            continue
        lowest = abs(float(load[k])) if sense[k] > 0 else np.inf  # a bound of zero
        found = _range(system, move, int(mine[k]), float(sense[k]), lowest)
        if scalar[k] >= 0:
            slope = float(sense[k] * np.sum(move.t[system.scalars == scalar[k]]))
            found = _scaled(*found, float(one[k]), slope, float(state.size[mine[k]]))
        up[k], down[k], basis[k] = found
    return up, down, basis


def _range(
    system: Sensitivity, move: Move, row: int, sense: float, lowest: float
) -> tuple[float, float, int]:
    """How far the bound of a row that binds may be loosened and tightened, and the basis."""
    price, size = float(system.certificate.prices[row]), system.state.size[row]
    up, down = (system.reach(move, way) for way in (sense, -sense))
    if abs(move.price) * size <= _STEADY * abs(price):
        return up, down, _EXACT
    up, down = _SURE * up, _SURE * down
    most = _change(move, price, -_HOLDS), min(_change(move, price, _HOLDS), lowest)
    basis = _CHANGE if up >= most[0] and down >= most[1] else _LEAST
    return min(up, most[0]), min(down, most[1]), basis


def _scaled(
    up: float, down: float, basis: int, t: float, slope: float, size: float
) -> tuple[float, float, int]:
    """The range of a bound ``b = d t(b)`` as one of d, by which the amount before t changes.

    With ``t(b) = t + slope b`` that is ``d = b / t(b)``, and the price of the amount is
    ``p t / (1 - slope d)^2``: with the square it changes by 10 %.
    """
    up, down = _amount(up, t, slope), _amount(down, t, -slope)
    if abs(slope) * size <= _STEADY * t:
        return up, down, basis
    ends = [((1 + share) ** -0.5 - 1) / -slope for share in (_HOLDS, -_HOLDS)]
    most, least = max(ends), -min(ends)
    if basis != _EXACT:  # the price of the bound changes as well
        return min(up, most) / 2, min(down, least) / 2, _LEAST
    return min(up, most), min(down, least), _CHANGE if up >= most and down >= least else _LEAST


def _amount(bound: float, t: float, slope: float) -> float:
    """``b / (t + slope b)``, infinite from where t ends."""
    if math.isinf(bound):
        return 1.0 / slope if slope > 0 else math.inf
    below = t + slope * bound
    return bound / below if below > 0 else math.inf


def _change(move: Move, price: float, share: float) -> float:
    """Units of the bound over which a price changes by a share of itself.

    Of the power law ``p (1 + u/c)^-k`` with the price's slope p' and curvature p'':
    ``1/k = p p''/p'^2 - 1`` and ``u = (1 - (1 + share)^(-1/k)) k p/p'``; ``inf`` where k is
    so near zero that this is beyond all numbers.
    """
    slope = move.price / price
    rate = move.curvature / move.price - slope  # p'/p over k, without the squares, which may vanish
    exponent, grown = rate / slope, math.log1p(share)
    if abs(exponent) <= _STRAIGHT:
        return abs(grown / slope)
    power = -exponent * grown
    return math.inf if power > _LARGEST else abs(math.expm1(power) / rate)

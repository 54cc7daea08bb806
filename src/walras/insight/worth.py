"""What one more unit of a resource is worth, and how far that price holds."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from walras.certificate import Certificate, dual_bound
from walras.errors import InputError
from walras.insight.active import Active, Floats, active
from walras.insight.kink import MOST, NEAR, price_ends
from walras.insight.sensitivity import Ints, Move, Sensitivity
from walras.separable import Separable, Side

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
        objective a unit of the bound); ``price_up`` and ``price_down`` (what the next unit buys,
        and what the last one bought: the price itself, but at a kink); ``utilisation`` (activity
        over bound); ``gain_of_one`` (what a unit more gains at most over the present allocation,
        proved by weak duality); ``holds_up`` and ``holds_down`` (units by which the bound may be
        loosened or tightened while the price holds); ``basis`` of these:

        - ``exact range``: the price does not change until other entries or rows come into use
          (certain, and complete where the optimum is a vertex);
        - ``10 % change``: utilities are curved, so the price changes at once; by 10 % over the
          range, by the power law with the price's own slope and curvature;
        - ``at least``: the same, but an entry runs out or a row begins to bind first, where the
          range is cut: up to there the price changes by less than 10 %, beyond perhaps faster; or
          entries or rows stand at the very edge of coming into use, a side's range is not found and
          is given as 0, and ``price_up`` and ``price_down`` hold at least for a little;
        - ``kink``: the price jumps here, and ``price`` is one of those between the two sides' (not
          computed, NaN, beyond 50,000 coefficients).

    Raises:
        InputError: The problem has no rows at all, as outside the separable form.
    """
    rows = problem.rows
    _refuse_without_rows(problem)
    mine = np.flatnonzero((rows.side == Side.RESOURCE) & ~rows.is_utility)
    state = active(problem, certificate)
    prices = certificate.prices[mine]
    at_upper = np.where(prices != 0, prices > 0, np.isfinite(rows.upper[mine]))
    bound = np.where(at_upper, rows.upper[mine], rows.lower[mine])
    sense = np.where(at_upper, 1.0, -1.0)
    up, down, basis = _ranges(problem, certificate, state, mine, sense)
    sides = _sides(problem, certificate, state, mine, sense, np.minimum(up, down))
    jumps = ~np.isclose(*sides, rtol=_JUMP, atol=0.0)
    up, down = np.where(jumps, 0.0, up), np.where(jumps, 0.0, down)
    edge = (np.minimum(up, down) <= NEAR * state.size[mine]) & state.rows[mine]
    basis[edge & (basis == _EXACT)] = _LEAST
    basis[jumps] = _KINK
    proved = dual_bound(problem, certificate.prices)
    short = max(certificate.value - proved.value, 0.0)
    return pd.DataFrame(
        {
            "row": [rows.name(int(k)) for k in mine],
            "price": np.abs(prices),
            "price_up": sides[0],
            "price_down": sides[1],
            "utilisation": state.activity[mine] / np.where(bound != 0, bound, np.nan),
            "gain_of_one": np.abs(proved.prices[mine]) + short,
            "holds_up": up,
            "holds_down": down,
            "basis": _BASIS[basis],
        }
    )


def _refuse_without_rows(problem: Separable) -> None:
    if not problem.rows.count:
        raise InputError(
            "the problem has no resources whose units could be worth something", where="worth",
            allowed="problems with rows in the separable form",
            remedy="read the constraints' dual values, or state the problem in the separable form",
        )  # fmt: skip


def _sides(
    problem: Separable, certificate: Certificate, state: Active, mine: Ints, sense: Floats,
    holds: Floats,
) -> tuple[Floats, Floats]:  # fmt: skip
    """(rows,) prices of the next and of the last unit; they differ where no range holds."""
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
    problem: Separable, certificate: Certificate, state: Active, mine: Ints, sense: Floats
) -> tuple[Floats, Floats, Ints]:
    """How far each row's bound may be loosened and tightened, and the basis of that.

    ``sense`` is +1 where loosening raises the bound, -1 where it lowers it.
    """
    up, down = np.full(len(mine), np.inf), state.slack[mine].copy()
    basis = np.full(len(mine), _EXACT)
    binding = np.flatnonzero(state.rows[mine])
    if not len(binding):
        return up, down, basis
    system = Sensitivity.of(problem, certificate, state)
    for k in binding:
        row = int(mine[k])
        move = system.move(row)
        if move is None:  # another row holds the same entries: the price is of both together
            up[k] = down[k] = 0.0
            continue
        price = float(certificate.prices[row])
        up[k], down[k] = (system.reach(move, float(way)) for way in (sense[k], -sense[k]))
        if abs(move.price) * state.size[row] <= _STEADY * abs(price):
            continue
        lowest = abs(float(state.activity[row])) if sense[k] > 0 else np.inf  # a bound of zero
        up[k], down[k] = _SURE * up[k], _SURE * down[k]
        most = _change(move, price, -_HOLDS), min(_change(move, price, _HOLDS), lowest)
        basis[k] = _CHANGE if up[k] >= most[0] and down[k] >= most[1] else _LEAST
        up[k], down[k] = min(up[k], most[0]), min(down[k], most[1])
    return up, down, basis


def _change(move: Move, price: float, share: float) -> float:
    """Units of the bound over which a price changes by a share of itself.

    Of the power law ``p (1 + u/c)^-k`` with the price's slope p' and curvature p'':
    ``1/k = p p''/p'^2 - 1`` and ``u = (1 - (1 + share)^(-1/k)) k p/p'``; ``inf`` where k is
    so near zero that this is beyond all numbers.
    """
    slope = move.price / price
    rate = move.bend / move.price - slope  # p'/p over k, without the squares, which may vanish
    exponent, grown = rate / slope, math.log1p(share)
    if abs(exponent) <= _STRAIGHT:
        return abs(grown / slope)
    power = -exponent * grown
    return math.inf if power > _LARGEST else abs(math.expm1(power) / rate)

"""What one more unit of a resource is worth, and how far that price holds."""

from __future__ import annotations

import numpy as np
import pandas as pd

from walras.certificate import Certificate, dual_bound
from walras.insight.active import Active, Floats, active
from walras.insight.sensitivity import Ints, Sensitivity
from walras.separable import Separable, Side

_HOLDS = 0.1  # relative change of a price up to which it holds, where prices are curved
_STEADY = 1e-6  # relative change of a price, for a change of the bound by its size, that is none


def worth(problem: Separable, certificate: Certificate) -> pd.DataFrame:
    """What one more unit of each resource buys, and how far its price holds.

    Args:
        problem: The problem.
        certificate: Its certified point, near the optimum.

    Returns:
        One row a constraint row of a resource, with columns ``row``; ``price`` (the user's
        objective a unit of the bound); ``utilisation`` (activity over bound); ``gain_of_one`` (what
        a unit more gains at most over the present allocation, proved by weak duality);
        ``holds_up`` and ``holds_down`` (units by which the bound may be loosened or tightened while
        the price holds); ``basis`` of these: ``exact range`` where the price does not change until
        other entries or rows come into use (certain, and complete where the optimum is a vertex),
        ``first order`` where it changes at once and is held to 10 %.
    """
    rows = problem.rows
    mine = np.flatnonzero((rows.side == Side.RESOURCE) & ~rows.is_utility)
    state = active(problem, certificate)
    prices = certificate.prices[mine]
    at_upper = np.where(prices != 0, prices > 0, np.isfinite(rows.upper[mine]))
    bound = np.where(at_upper, rows.upper[mine], rows.lower[mine])
    up, down, exact = _ranges(problem, certificate, state, mine, np.where(at_upper, 1.0, -1.0))
    proved = dual_bound(problem, certificate.prices)
    short = max(certificate.value - proved.value, 0.0)
    return pd.DataFrame(
        {
            "row": [rows.name(int(k)) for k in mine],
            "price": np.abs(prices),
            "utilisation": state.activity[mine] / np.where(bound != 0, bound, np.nan),
            "gain_of_one": np.abs(proved.prices[mine]) + short,
            "holds_up": up,
            "holds_down": down,
            "basis": np.where(exact, "exact range", "first order"),
        }
    )


def _ranges(
    problem: Separable, certificate: Certificate, state: Active, mine: Ints, sense: Floats
) -> tuple[Floats, Floats, np.ndarray[tuple[int], np.dtype[np.bool_]]]:
    """How far each row's bound may be loosened and tightened, and whether that is exact.

    ``sense`` is +1 where loosening raises the bound, -1 where it lowers it.
    """
    up, down = np.full(len(mine), np.inf), state.slack[mine].copy()
    exact = np.ones(len(mine), dtype=bool)
    binding = np.flatnonzero(state.rows[mine])
    if not len(binding):
        return up, down, exact
    system = Sensitivity.of(problem, certificate, state)
    for k in binding:
        row = int(mine[k])
        move = system.move(row)
        if move is None:  # another row holds the same entries: the price is of both together
            up[k] = down[k] = 0.0
            continue
        price = abs(float(certificate.prices[row]))
        if abs(move.price) * state.size[row] <= _STEADY * price:
            up[k] = system.reach(move, float(sense[k]))
            down[k] = system.reach(move, -float(sense[k]))
        else:
            exact[k] = False
            up[k] = _HOLDS * price / abs(move.price)
            # No further than to a bound of zero.
            down[k] = min(up[k], abs(float(state.activity[row]))) if sense[k] > 0 else up[k]
    return up, down, exact

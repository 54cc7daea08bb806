"""The local rules: computations of one centre from its state and its neighbours' messages.

All rules are pure functions of numbers or arrays. The simulator applies them to all centres (or
links) at once, the protocol to one. Symbols as in the explanation page on co-optimisation.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

import numpy as np

from walras.network.problem.quanta import counted
from walras.types import Bools, Longs

A = TypeVar("A", bound=Any)  # a float or an array of floats


def usable(share: A, multiplier: A, low: A, high: A, penalty: A) -> A:
    """The share a centre may use: the nearest to ``share + multiplier / penalty`` in its box.

    It minimises multiplier (share - u) + penalty / 2 (share - u)^2 over the box.
    """
    return np.clip(share + multiplier / penalty, low, high)  # type: ignore[no-any-return]


def box_price(share: A, multiplier: A, low: A, high: A, penalty: A) -> A:
    """The box's term in the marginal cost: the gradient of its augmented Lagrangian.

    It is multiplier + penalty (share - usable). This is 0 well inside the box, and equals the
    multiplier at the optimal share. It is also the multiplier's next value in the method of
    multipliers, which needs no message.
    """
    inside = usable(share, multiplier, low, high, penalty)
    return multiplier + penalty * (share - inside)  # type: ignore[no-any-return]


def push(gain: A, mine: A, theirs: A, unit: float) -> Longs:
    """Quanta for a neighbour whose marginal cost is lower, else 0.

    Args:
        gain: Step times the link's weight, in shares per unit of marginal cost.
        mine: The sender's marginal cost.
        theirs: The receiver's marginal cost, as the sender knows it.
        unit: One quantum as a share.

    Returns:
        floor(max(0, gain (mine - theirs)) / unit): whole quanta, never negative, so a lost message
        can only make shares too small.
    """
    amount = np.maximum(gain * (mine - theirs), 0.0) / unit
    return counted(np.floor(amount))


def handed_over(wanted: A, owed: A, available: A) -> tuple[A, A]:
    """The quanta that a centre with a lower limit gives now, and its debt afterwards.

    It gives the wanted quanta and its old debt, as far as it has quanta above the limit, and owes
    the rest. Its price is the marginal cost of its holdings less its debt. So a centre at its limit
    with a debt attracts quanta, and passes on its neighbours' surplus. A centre that wants to give
    nothing keeps its quanta, and its debt shrinks by as much.

    Args:
        wanted: Quanta that it pushes at this step, to all neighbours together.
        owed: Quanta that it owed before.
        available: Quanta that it holds above its lower limit.

    Returns:
        The given quanta, at most ``available``; and the debt, which is 0 unless all available
        quanta were given.
    """
    asked = wanted + owed
    given = np.where(wanted > 0, np.minimum(asked, available), 0)
    return given, np.maximum(asked - available, 0)  # type: ignore[return-value]


def exchange(gain: A, mine: A, theirs: A, carried: Longs, momentum: float, unit: float) -> Longs:
    """Quanta that move from one end of a link to the other, of either sign.

    They are momentum x carried + gain (mine - theirs) / unit, rounded towards zero. This is an odd
    function, so both ends compute the same number with opposite signs.

    Args:
        gain: Step times the link's weight, in shares per unit of marginal cost.
        mine: The marginal cost of the end that gives when the result is positive.
        theirs: The marginal cost of the other end.
        carried: Quanta that moved over the link in the previous step.
        momentum: Share of these that moves again, 0 <= momentum < 1.
        unit: One quantum as a share.
    """
    amount = momentum * carried + gain * (mine - theirs) / unit
    return counted(np.trunc(amount))


def model_step(model: A, pull: A, tracker: A, step: float, alpha: float) -> A:
    """The next model: y + step (pull - alpha z), with pull = sum_j w_ij (y_j - y_i)."""
    return model + step * (pull - alpha * tracker)  # type: ignore[no-any-return]


def adapted(model: A, gradient: A, surplus: A, step: float) -> A:
    """The message of exact diffusion to the neighbours: v = y - step (gradient + s).

    With f = sum_j w_ij (v_j - v_i) the next model is v + mix f, and the next surplus is s - (mix /
    step) f. Surpluses move along links, so their sum stays 0.
    """
    return model - step * (gradient + surplus)  # type: ignore[no-any-return]


def tracker(gradient: A, surplus: A) -> A:
    """The estimate z = gradient + s of the sum of all gradients, n times its mean.

    It starts as the local gradient (s = 0). Then the surpluses always sum to 0, and z sums to the
    sum of the gradients. A tracker that starts at 0 converges to the wrong model.
    """
    return gradient + surplus  # type: ignore[no-any-return]


def coordinator_among(in_first_life: Bools) -> int:
    """The coordinator: the first centre still in its first life, -1 if there is none.

    Args:
        in_first_life: (centres,) True on centres whose first life has not ended.
    """
    first = np.flatnonzero(in_first_life)
    return int(first[0]) if len(first) else -1


def estate(begun: Longs, balances: Iterable[Longs]) -> Longs:
    """(width,) the estate of an ended life: its first quanta plus its neighbours' balances.

    Args:
        begun: (width,) quanta that it began with, or took over later.
        balances: (width,) for each living neighbour, sent minus credited quanta.
    """
    total = begun.copy()
    for balance in balances:
        total += balance
    return total

"""The local rules: what one centre computes from its state and what its neighbours said.

All are pure, and take numbers or arrays alike: the simulator applies them to all centres (or links)
at once, the protocol to one. Symbols as in the explanation page on co-optimisation.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from walras.network.problem.quanta import counted
from walras.types import Longs

A = TypeVar("A", bound=Any)  # a float or an array of floats


def usable(share: A, multiplier: A, low: A, high: A, penalty: A) -> A:
    """The share a centre may use: the nearest to ``share + multiplier / penalty`` in its box.

    It minimises multiplier (share - u) + penalty / 2 (share - u)^2 over the box.
    """
    return np.clip(share + multiplier / penalty, low, high)  # type: ignore[no-any-return]


def box_price(share: A, multiplier: A, low: A, high: A, penalty: A) -> A:
    """What the box adds to the marginal cost: the gradient of its augmented Lagrangian.

    multiplier + penalty (share - usable), which is 0 well inside the box and equals the multiplier
    where the share is what it should be. It is also the multiplier's next value in the method of
    multipliers; no message is needed for it.
    """
    inside = usable(share, multiplier, low, high, penalty)
    return multiplier + penalty * (share - inside)  # type: ignore[no-any-return]


def push(gain: A, mine: A, theirs: A, unit: float) -> Longs:
    """Quanta to hand to a neighbour whose marginal cost is lower, else 0.

    Args:
        gain: Step times the link's weight, in shares per unit of marginal cost.
        mine: The sender's marginal cost.
        theirs: The receiver's, as the sender knows it.
        unit: One quantum as a share.

    Returns:
        floor(max(0, gain (mine - theirs)) / unit): whole quanta, never negative, so that what a
        lost message carries is missing and never too much.
    """
    amount = np.maximum(gain * (mine - theirs), 0.0) / unit
    return counted(np.floor(amount))


def handed_over(wanted: A, owed: A, available: A) -> tuple[A, A]:
    """What a centre that keeps its lower limit gives now, and what it owes after.

    It gives what it wants to and what it owed before, as far as it has quanta above the limit, and
    owes the rest. Its price is that of what it holds less what it owes: who is at the limit and
    owes looks for quanta, and so passes on what neighbours have too much of. Who wants to give
    nothing keeps what it has, and owes so much less.

    Args:
        wanted: Quanta that it pushes at this step, to all neighbours together.
        owed: Quanta that it owed before.
        available: Quanta that it holds above its lower limit.

    Returns:
        Given, at most ``available``; and owed, which is 0 unless all that was available is gone.
    """
    asked = wanted + owed
    given = np.where(wanted > 0, np.minimum(asked, available), 0)
    return given, np.maximum(asked - available, 0)  # type: ignore[return-value]


def exchange(gain: A, mine: A, theirs: A, carried: Longs, momentum: float, unit: float) -> Longs:
    """Quanta that go from one end of a link to the other, of either sign.

    [momentum x carried + gain (mine - theirs) / unit] rounded towards zero: an odd function, so
    that both ends compute the same number with opposite signs.

    Args:
        gain: Step times the link's weight, in shares per unit of marginal cost.
        mine: The marginal cost of the end that gives when the result is positive.
        theirs: The other end's.
        carried: What went over the link at the step before.
        momentum: How much of that goes again, 0 <= momentum < 1.
        unit: One quantum as a share.
    """
    amount = momentum * carried + gain * (mine - theirs) / unit
    return counted(np.trunc(amount))


def emit(gain: A, mine: A, unit: float) -> Longs:
    """Quanta handed to an out-neighbour on one-way links: gain x mine, of either sign.

    The receiver cannot answer, so the sender hands out its weighted marginal cost itself; at the
    optimum all such flows cancel (surplus form with push-sum weights).
    """
    return counted(np.rint(gain * mine / unit))


def model_step(model: A, pull: A, tracker: A, step: float, alpha: float) -> A:
    """The next model: y + step (pull - alpha z), with pull = sum_j w_ij (y_j - y_i)."""
    return model + step * (pull - alpha * tracker)  # type: ignore[no-any-return]


def adapted(model: A, gradient: A, surplus: A, step: float) -> A:
    """What exact diffusion tells its neighbours: v = y - step (gradient + s).

    With f = sum_j w_ij (v_j - v_i) the next model is v + mix f, the next surplus s - (mix / step)
    f: surpluses move along links, so that they sum to 0 for ever.
    """
    return model - step * (gradient + surplus)  # type: ignore[no-any-return]


def tracker(gradient: A, surplus: A) -> A:
    """The estimate z = gradient + s of the sum of all gradients, n times its mean.

    It starts as the local gradient (s = 0): then the surpluses sum to 0 for ever and z sums to the
    sum of the gradients. A tracker that starts at 0 converges to the wrong model.
    """
    return gradient + surplus  # type: ignore[no-any-return]

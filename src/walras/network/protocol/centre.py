"""What one centre computes by itself: its marginal cost, its pushes, its model's next step."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from walras.network.methods.rules import box_price, handed_over, model_step, push, tracker
from walras.network.problem.cpu_costs import CPUCost
from walras.types import Floats, Longs

SURPLUS_UNIT = 2.0**-40  # one quantum of the model's surplus


@dataclass(frozen=True, eq=False)
class Learner:
    """The model's part of a centre's terms.

    Attributes:
        gradient: Of the centre's own loss, at a model (scalars,).
        start: (scalars,) the model to begin with.
        step: Weighs averaging.
        alpha: Weighs the tracked gradient against averaging.
    """

    gradient: Callable[[Floats], Floats]
    start: Floats
    step: float
    alpha: float


@dataclass(frozen=True, eq=False)
class NodeConfig:
    """What a centre is told before it starts, and never changes.

    Attributes:
        centre: Its number.
        weights: Weight of the link to each neighbour, the same at both ends.
        cost: Its CPU cost.
        low: Its least share, -inf for none: of CPU, none is below 0 all the same.
        high: Its largest share, inf for none.
        penalty: Of a share outside the box, per unit.
        rate: Shares pushed per unit of marginal cost and weight.
        multiplier_step: Of its box's multiplier, as a part of the method of multipliers' own step.
        unit: One quantum as a share.
        total: The budget in quanta.
        learner: What it trains, or None.
    """

    centre: int
    weights: Mapping[int, float]
    cost: CPUCost
    low: float
    high: float
    penalty: float
    rate: float
    multiplier_step: float
    unit: float
    total: int
    learner: Learner | None = None

    @cached_property
    def least(self) -> int:
        """Its least share in quanta, of CPU and so never below 0."""
        return max(0, math.ceil(self.low / self.unit)) if self.low > 0.0 else 0

    @cached_property
    def most(self) -> int:
        """Its largest share in quanta; no more than all there are."""
        whole = math.floor(self.high / self.unit) if self.high < math.inf else self.total
        return max(self.least, min(self.total, whole))

    @property
    def width(self) -> int:
        """Entries of a ledger's vectors: the share, then the model's scalars."""
        return 1 + (0 if self.learner is None else len(self.learner.start))


class Local:
    """The part of a centre's state that no neighbour has a stake in.

    Args:
        terms: Its constants.

    Attributes:
        multiplier: Of its box.
        owed: Quanta to hand out as soon as it holds more than its lower limit.
        model: (scalars,) its model.
    """

    def __init__(self, terms: NodeConfig) -> None:
        self.terms = terms
        self.multiplier = 0.0
        self.owed = 0
        self.restart(np.zeros(0) if terms.learner is None else terms.learner.start)

    def restart(self, model: Floats) -> None:
        """Go on from a model: the given one, or a neighbour's for one that starts anew."""
        self.model, learner = np.asarray(model, np.float64).copy(), self.terms.learner
        self._gradient = self.model if learner is None else learner.gradient(self.model)

    def price(self, held: Longs) -> float:
        """The marginal cost of the share held less what is owed, and of its box."""
        t, share = self.terms, np.asarray(self._due(held))
        # Beyond its box a cost goes on as a parabola, its slope as a line.
        inside = np.clip(share, t.low, t.high)
        slope = t.cost.slope(inside) + t.cost.curvature(inside) * (share - inside)
        return float(slope + box_price(share, self.multiplier, t.low, t.high, t.penalty))

    def raise_multiplier(self, held: Longs) -> None:
        """A part of the method of multipliers' step; no message is needed for it."""
        t, share = self.terms, self._due(held)
        shadow = float(box_price(share, self.multiplier, t.low, t.high, t.penalty))
        self.multiplier += t.multiplier_step * (shadow - self.multiplier)

    def pushes(self, held: Longs, price: float, theirs: Mapping[int, float]) -> dict[int, Longs]:
        """What to hand to each neighbour: shares to cheaper ones, surplus to all.

        Of the share only what is above the lower limit; the rest is owed.
        """
        t = self.terms
        wanted = {j: int(push(t.rate * t.weights[j], price, p, t.unit)) for j, p in theirs.items()}
        asked, available = sum(wanted.values()), max(int(held[0]) - t.least, 0)
        given, owed = handed_over(asked, self.owed, available)
        self.owed = int(owed)
        amounts = {j: np.zeros(t.width, np.int64) for j in theirs}
        for j, quanta in wanted.items():
            amounts[j][0] = quanta * int(given) // max(asked, 1)
        if t.learner is not None:
            z = self._tracker(held)
            for j, amount in amounts.items():
                flow = t.learner.step * t.weights[j] * z / SURPLUS_UNIT
                amount[1:] = np.rint(flow).astype(np.int64)
        return amounts

    def learn(self, held: Longs, models: Mapping[int, Floats]) -> None:
        """One step of the model, towards the neighbours' and down the tracked gradient."""
        learner = self.terms.learner
        if learner is None:
            return
        pull = np.zeros_like(self.model)
        for j, model in models.items():
            pull += self.terms.weights[j] * (model - self.model)
        z = self._tracker(held)
        self.restart(model_step(self.model, pull, z, learner.step, learner.alpha))

    def _due(self, held: Longs) -> float:
        return float(int(held[0]) - self.owed) * self.terms.unit

    def _tracker(self, held: Longs) -> Floats:
        return np.asarray(tracker(self._gradient, held[1:] * SURPLUS_UNIT))

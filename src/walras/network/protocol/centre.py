"""Local computations of a centre: marginal cost, transfers, and the next step of its model."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from walras.network.methods.rules import box_price, handed_over, model_step, push, tracker
from walras.network.problem.cpu_costs import CPUCost
from walras.network.problem.quanta import counted_sum
from walras.types import Floats, Longs

SURPLUS_UNIT = 2.0**-40  # one quantum of the model's surplus


@dataclass(frozen=True, eq=False)
class Learner:
    """The model's part of a centre's configuration.

    Attributes:
        gradient: Gradient of the centre's own loss at a model (scalars,).
        start: (scalars,) the initial model.
        step: Step length of averaging.
        alpha: Weight of the tracked gradient, relative to averaging.
    """

    gradient: Callable[[Floats], Floats]
    start: Floats
    step: float
    alpha: float


@dataclass(frozen=True, eq=False)
class NodeConfig:
    """The configuration of a centre, fixed before it starts.

    Attributes:
        centre: Its number.
        weights: Weight of the link to each neighbour, the same at both ends.
        cost: Its CPU cost.
        low: Its least share; -inf for no limit. A share of CPU is never below 0.
        high: Its largest share; inf for no limit.
        penalty: Cost of a share outside the box, per unit.
        rate: Share transferred per unit of difference in marginal cost and of weight.
        multiplier_step: Step of its box's multiplier, as a part of the method of multipliers'.
        unit: One quantum as a share.
        total: The budget in quanta.
        learner: The model that it trains, or None.
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
        """Its least share in quanta; never below 0."""
        return max(0, math.ceil(self.low / self.unit)) if self.low > 0.0 else 0

    @cached_property
    def most(self) -> int:
        """Its largest share in quanta; at most the budget."""
        whole = math.floor(self.high / self.unit) if self.high < math.inf else self.total
        return max(self.least, min(self.total, whole))

    @property
    def width(self) -> int:
        """Entries of a ledger's vectors: the share, then the model's scalars."""
        return 1 + (0 if self.learner is None else len(self.learner.start))


class Local:
    """The private state of a centre: its multiplier, its model and what it owes.

    Args:
        node_config: Its constants.

    Attributes:
        multiplier: Multiplier of its box.
        owed: Quanta that it will transfer as soon as it holds more than its lower limit.
        model: (scalars,) its model.
    """

    def __init__(self, node_config: NodeConfig) -> None:
        self.node_config = node_config
        self.multiplier = 0.0
        self.owed = 0
        self.restart(np.zeros(0) if node_config.learner is None else node_config.learner.start)

    def restart(self, model: Floats) -> None:
        """Continue from a model: the given one, or a neighbour's after a restart."""
        self.model, learner = np.asarray(model, np.float64).copy(), self.node_config.learner
        self._gradient = self.model if learner is None else learner.gradient(self.model)

    def price(self, held: Longs) -> float:
        """Marginal cost of its share (held minus owed), with the multiplier of its box."""
        t, share = self.node_config, np.asarray(self._due(held))
        # Outside its box a cost continues as a parabola, so its slope as a line.
        inside = np.clip(share, t.low, t.high)
        slope = t.cost.slope(inside) + t.cost.curvature(inside) * (share - inside)
        return float(slope + box_price(share, self.multiplier, t.low, t.high, t.penalty))

    def raise_multiplier(self, held: Longs) -> None:
        """Update the multiplier of its box; this needs no message."""
        t, share = self.node_config, self._due(held)
        shadow = float(box_price(share, self.multiplier, t.low, t.high, t.penalty))
        self.multiplier += t.multiplier_step * (shadow - self.multiplier)

    def pushes(self, held: Longs, price: float, theirs: Mapping[int, float]) -> dict[int, Longs]:
        """Amounts to transfer to each neighbour: shares to cheaper ones, surplus to all.

        It transfers only what it holds above its lower limit and owes the rest.
        """
        t = self.node_config
        wanted = {j: int(push(t.rate * t.weights[j], price, p, t.unit)) for j, p in theirs.items()}
        asked = counted_sum((*wanted.values(), self.owed)) - self.owed
        given, owed = handed_over(asked, self.owed, max(int(held[0]) - t.least, 0))
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
        """One step of the model: average with the neighbours, then follow the tracked gradient."""
        learner = self.node_config.learner
        if learner is None:
            return
        pull = np.zeros_like(self.model)
        for j, model in models.items():
            pull += self.node_config.weights[j] * (model - self.model)
        z = self._tracker(held)
        self.restart(model_step(self.model, pull, z, learner.step, learner.alpha))

    def _due(self, held: Longs) -> float:
        return float(int(held[0]) - self.owed) * self.node_config.unit

    def _tracker(self, held: Longs) -> Floats:
        return np.asarray(tracker(self._gradient, held[1:] * SURPLUS_UNIT))

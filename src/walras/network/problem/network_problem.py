"""The problem of a network of centres: CPU shares under a budget, and one model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from walras import checks
from walras.errors import InfeasibleError, InputError
from walras.network.problem.cpu_costs import CPUCost, CPUCosts, QuadraticCPU, ThroughputCPU
from walras.network.problem.kinks import sharpest
from walras.network.problem.losses import Loss
from walras.network.problem.optimum import Optimum, best_model, best_shares
from walras.network.problem.quanta import MOST, Quanta
from walras.network.problem.shards import Shards
from walras.types import Bools, Floats, Longs

_NOTHING = 1e-12  # share of the usual cost that counts as a cost of 0
_SAMPLES = 65  # number of shares in a box at which a cost's curvature is computed


@dataclass(frozen=True, eq=False)
class NetworkProblem:
    """Shares of a CPU budget, and one model, that centres decide together.

    min sum_i f_i(x_i) + g_i(y)  over  sum_i x_i = budget,  low_i <= x_i <= high_i.

    Source: Doostmohammadian, Gabidullina and Rabiee, arXiv 2510.25176, problem 1.

    Args:
        cpu: One cost f_i for each centre: a cost class, or a function of the share.
        budget: Sum of the shares, > 0, in any unit of CPU, such as cores.
        boxes: Least and largest share, each a number or (centres,); none when left out.
        loss: The loss g_i, such as ``Logistic()``; needs ``shards``.
        shards: ``(features, targets)`` of each centre, each (samples, features) and (samples,).

    Attributes:
        costs: The f_i, stacked.
        budget: Sum of the shares.
        low: (centres,) least shares, -inf without a box.
        high: (centres,) largest shares, inf without a box.
        loss: The loss g_i; None if there is nothing to train.
        data: Every centre's samples in the loss's form; (centres, samples, features).
        quanta: The unit in which shares are counted.
        least: (centres,) low in quanta.
        most: (centres,) high in quanta.

    Raises:
        InputError: Costs, boxes or data cannot be used.
        InfeasibleError: The budget is outside what the boxes can hold.

    Example:
        >>> import walras as wl
        >>> wn = wl.network
        >>> cpu = [wn.QuadraticCPU(center=c, scale=1.0) for c in (1.0, 2.0, 6.0)]
        >>> problem = wn.NetworkProblem(cpu, budget=6.0, boxes=(0.0, 4.0))
        >>> problem
        NetworkProblem(3 centres, budget 6, no model)
        >>> problem.optimum().shares
        array([0.5, 1.5, 4. ])
    """

    costs: CPUCosts
    budget: float
    low: Floats
    high: Floats
    loss: Loss | None
    data: Shards | None

    def __init__(
        self,
        cpu: Sequence[CPUCost | Callable[[float], float]] | CPUCosts,
        budget: float,
        boxes: tuple[npt.ArrayLike, npt.ArrayLike] | None = None,
        loss: Loss | None = None,
        shards: Sequence[tuple[npt.ArrayLike, npt.ArrayLike]] | Shards | None = None,
    ) -> None:
        """Check and stack the centres' costs, boxes and data.

        Args:
            cpu: One cost for each centre.
            budget: Sum of the shares, > 0.
            boxes: Least and largest share, each a number or (centres,).
            loss: A loss such as ``Logistic()``; needs ``shards``.
            shards: ``(features, targets)`` of each centre.

        Raises:
            InputError: Costs, boxes or data cannot be used.
            InfeasibleError: The budget is outside what the boxes can hold.
        """
        costs = cpu if isinstance(cpu, CPUCosts) else CPUCosts.of(cpu)
        low, high = _boxes(boxes, costs.centres)
        set_ = object.__setattr__
        set_(self, "costs", costs)
        remedy = "give the CPU that all centres share"
        set_(self, "budget", checks.number(budget, "budget", above=0.0, remedy=remedy))
        set_(self, "low", low)
        set_(self, "high", high)
        self._count(0.0)
        self._check_reach(np.ones(costs.centres, bool))
        set_(self, "loss", loss)
        set_(self, "data", _data(loss, shards, costs.centres))
        self._check_convex()
        if (low < 0.0).any():
            everyone = np.ones(costs.centres, bool)
            found = best_shares(costs, self.budget, low, high, everyone)
            self._count(float(np.abs(found.shares).max()))

    quanta: Quanta
    least: Longs
    most: Longs

    def __repr__(self) -> str:
        trained = "no model" if self.loss is None else type(self.loss).__name__
        return f"NetworkProblem({self.centres} centres, budget {self.budget:g}, {trained})"

    def to_saved(self) -> dict[str, Any]:
        """The arguments of the problem, with the data in the loss's form."""
        names = ("costs", "budget", "low", "high", "loss", "data")
        return {name: getattr(self, name) for name in names}

    @classmethod
    def from_saved(cls, parts: Mapping[str, Any]) -> Self:
        """The problem that :meth:`to_saved` describes; its data need no preparation."""
        made = cls(parts["costs"], parts["budget"], (parts["low"], parts["high"]))
        for name in ("loss", "data"):
            object.__setattr__(made, name, parts[name])
        return made

    def _count(self, largest: float) -> None:
        """Choose quanta that can count the largest share, and state the boxes in them."""
        quanta = Quanta.of(self.budget, largest)
        least, most = quanta.within(self.low, self.high)
        for name, value in (("quanta", quanta), ("least", least), ("most", most)):
            object.__setattr__(self, name, value)

    @property
    def centres(self) -> int:
        """Number of centres."""
        return self.costs.centres

    @property
    def boxed(self) -> bool:
        """Whether any share has a bound."""
        return bool(np.isfinite(self.low).any() or np.isfinite(self.high).any())

    @cached_property
    def floored(self) -> Bools:
        """(centres,) True on shares with a lower limit."""
        return np.isfinite(self.low)

    def first_split(self, start: Floats | None) -> Longs:
        """(centres,) first quanta: the split in the boxes that is nearest to the wanted one.

        Args:
            start: (centres,) fractions of the budget; equal ones when left out.

        Returns:
            (centres,) quanta, in the boxes, that sum to the budget.

        Raises:
            InputError: A fraction is negative or not finite, or all are zero.
        """
        asked = self.quanta.split(np.ones(self.centres) if start is None else start)
        if ((asked >= self.least) & (asked <= self.most)).all():
            return asked
        return self.quanta.nearest(asked, self.least, self.most)

    def available(self, held: Longs) -> Longs:
        """(centres,) quanta that each centre may give: its holdings above its lower limit.

        Args:
            held: (centres,) quanta held.

        Returns:
            (centres,) quanta; a very large number without a lower limit.
        """
        above = np.maximum(held, self.least) - np.where(self.floored, self.least, 0)
        return np.where(self.floored, above, MOST)

    def used(self, held: Longs) -> Floats:
        """(centres,) shares in use, always inside the boxes, from the holdings.

        Holdings above the upper limit are idle and will move to others. A centre below its lower
        limit, such as one that has just come back, uses nothing yet.

        Args:
            held: (centres,) quanta held.

        Returns:
            (centres,) shares in the budget's unit.
        """
        share = np.clip(self.quanta.shares(held), self.low, self.high)
        return np.where(held < self.least, 0.0, share)

    def excess(self, shares: Floats) -> float:
        """The largest distance of a share from its box.

        Args:
            shares: (centres,) shares.

        Returns:
            The distance, 0 if all are in their boxes.
        """
        beyond = np.maximum(self.low - shares, shares - self.high)
        return max(0.0, float(beyond.max()))

    @cached_property
    def inside(self) -> Floats:
        """(centres,) a share in each box at which every cost is defined, for idle centres."""
        return np.asarray(np.clip(1.0, self.low, self.high))

    def cost(self, shares: Floats) -> Floats:
        """(centres,) CPU costs; beyond its box a cost continues as a parabola.

        Args:
            shares: (centres,) shares.

        Returns:
            (centres,) costs.
        """
        inside = np.clip(shares, self.low, self.high)
        beyond = shares - inside
        if not beyond.any():
            return self.costs.value(shares)
        slope, curvature = self.costs.slope(inside), self.costs.curvature(inside)
        return self.costs.value(inside) + beyond * (slope + 0.5 * curvature * beyond)

    def slope(self, shares: Floats) -> Floats:
        """(centres,) marginal costs; beyond its box a marginal cost continues as a line.

        Args:
            shares: (centres,) shares.

        Returns:
            (centres,) marginal costs.
        """
        if self.costs.quadratic is not None or not self.boxed:
            return self.costs.slope(shares)
        inside = np.clip(shares, self.low, self.high)
        return self.costs.slope(inside) + self.costs.curvature(inside) * (shares - inside)

    @cached_property
    def curvatures(self) -> tuple[Floats, Floats]:
        """(centres,) least and largest second derivative of each cost in its box."""
        curvature = self._sampled_curvature()
        return curvature.min(axis=0), curvature.max(axis=0)

    @cached_property
    def smoothness(self) -> Floats:
        """(centres,) bounds on the curvature of the centres' losses.

        Raises:
            InputError: There is nothing to train, or a bound is 0 or infinite.
        """
        loss, data = self.learning
        found = np.asarray(loss.smoothness(data, self.centres), np.float64)
        if not np.isfinite(found).all() or not found.max() > 0.0:
            raise InputError(
                f"is {found.max()}: no step can be computed from it",
                where="loss, curvature",
                allowed="a positive, finite bound on how fast gradients change",
                remedy="give features that are not all 0, a loss that curves, or its constant: "
                "TorchLoss(..., smoothness_hint=L)",
            )
        return found

    @property
    def learning(self) -> tuple[Loss, Shards]:
        """The loss and the data.

        Raises:
            InputError: There is nothing to train.
        """
        if self.loss is None or self.data is None:
            raise InputError(
                "has no loss",
                where="problem",
                allowed="a loss and shards",
                remedy="Problem(..., loss=Logistic(), shards=[...])",
            )
        return self.loss, self.data

    def optimum(self, alive: Bools | None = None) -> Optimum:
        """Compute the best shares and model by solvers that know nothing of networks.

        Shares by bisection on the price of CPU, the model by quasi-Newton and Newton steps on all
        data together.

        Args:
            alive: (centres,) True on centres that take part; all when left out.

        Returns:
            Shares, price of CPU, cost and model.

        Raises:
            InfeasibleError: The boxes of the living centres cannot hold the budget.
        """
        mask = np.ones(self.centres, bool) if alive is None else np.asarray(alive)
        self._check_reach(mask)
        found = best_shares(self.costs, self.budget, self.low, self.high, mask)
        if self.loss is None or self.data is None:
            return found
        model, value = best_model(self.loss, self.data.only(mask), self.centres)
        return replace(found, model=model, loss=value)

    def measure(self, alive: Bools) -> tuple[float, float]:
        """The least CPU cost of the living centres, and the divisor of gaps.

        The divisor is the cost's absolute value, or 1 if that is 0 to rounding, relative to the
        cost of a first split. Both are NaN if the boxes of the living centres cannot hold the
        budget.

        Args:
            alive: (centres,) True on centres that take part.

        Returns:
            The least cost, and the divisor.
        """
        try:
            self._check_reach(alive)
        except InfeasibleError:
            return float("nan"), float("nan")
        best = best_shares(self.costs, self.budget, self.low, self.high, alive).cost
        first = self.quanta.shares(self.first_split(None))
        usual = float(np.abs(self.cost(first)[alive]).sum())
        return best, abs(best) if abs(best) > _NOTHING * usual else 1.0

    def _check_reach(self, alive: Bools) -> None:
        """Refuse a budget that the boxes of the living centres cannot hold, up to rounding."""
        least, most = self.quanta.within(self.low[alive], self.high[alive])
        if sum(least.tolist()) <= self.quanta.total <= sum(most.tolist()):
            return
        low, high = float(self.low[alive].sum()), float(self.high[alive].sum())
        raise InfeasibleError(
            f"is {self.budget:g}, and the boxes hold {low:g} to {high:g} in all",
            where="budget",
            allowed=f"{low:g}..{high:g}",
            remedy=f"change the budget by {(low if self.budget < low else high) - self.budget:+g}, "
            "or widen the boxes",
        )

    def _sampled_curvature(self) -> Floats:
        if self.costs.quadratic is not None:
            return self.costs.curvature(np.zeros(self.centres))[None]
        samples = self._samples()
        found = [self.costs.curvature(x) for x in samples]
        return np.array([*found, np.maximum(found[0], self._sharpest(samples))])

    def _sharpest(self, samples: Floats) -> Floats:
        """(centres,) curvature of users' cost functions between their samples; refuses kinks.

        It is 0 if the samples show all bends.
        """
        found = np.zeros(self.centres)
        for own, cost in self.costs.groups:
            if isinstance(cost, QuadraticCPU | ThroughputCPU):
                continue
            k = int(own[0])
            sharp = sharpest(cost, samples[:, k]) if self.low[k] < self.high[k] else None
            if sharp is not None and sharp.kink:
                raise InputError(
                    f"has a kink near {sharp.share:.4g}: no derivative",
                    where=f"cpu[{k}]",
                    allowed="a cost that can be differentiated throughout its box",
                    remedy="round the kink off, such as log(exp(f) + exp(g)) for max(f, g)",
                )
            found[k] = 0.0 if sharp is None else sharp.curvature
        return found

    def _samples(self) -> Floats:
        """(samples, centres) shares across the boxes."""
        plain = np.zeros(self.centres, bool)
        if self.costs.quadratic is None:
            plain = ~(np.isfinite(self.low) & np.isfinite(self.high))
            for own, cost in self.costs.groups:
                if hasattr(cost, "center"):
                    plain[own] = False
        if plain.any():
            k = int(np.argmax(plain))
            raise InputError(
                "has no finite box",
                where=f"boxes, centre {k}",
                allowed="finite low and high for costs that are not quadratic",
                remedy="boxes=(low, high): the step needs the largest curvature in the box",
            )
        low = np.where(np.isfinite(self.low), self.low, 0.0)
        high = np.where(np.isfinite(self.high), self.high, np.maximum(low + 1.0, self.budget))
        return np.asarray(low + np.linspace(0.0, 1.0, _SAMPLES)[:, None] * (high - low))

    def _check_convex(self) -> None:
        """Refuse costs that are not finite, or not strictly convex, in their box."""
        curvature = self._sampled_curvature()
        bad = ~(np.isfinite(curvature) & (curvature > 0.0)).all(axis=0)
        if bad.any():
            k = int(np.argmax(bad))
            raise InputError(
                "is not convex with a finite curvature throughout its box",
                where=f"cpu[{k}]",
                allowed=f"second derivative > 0 on {self.low[k]:g}..{self.high[k]:g}",
                remedy="correct the cost, or narrow the box",
            )


Problem = NetworkProblem  # the short name inside this package


def _boxes(
    boxes: tuple[npt.ArrayLike, npt.ArrayLike] | None, centres: int
) -> tuple[Floats, Floats]:
    given = (-np.inf, np.inf) if boxes is None else boxes
    low, high = (
        checks.one_each(side, f"boxes, {name}", centres, "centre")
        for name, side in zip(("low", "high"), given, strict=True)
    )
    checks.refuse_first(
        ~(low <= high) | ((low == high) & np.isinf(low)),
        low,
        lambda at: f"boxes, centre {at[0]}",
        what=lambda at: f"is {low[at]:g}..{high[at]:g}",
        allowed="low <= high",
        remedy="widen the box",
    )
    return low, high


def _data(
    loss: Loss | None,
    shards: Sequence[tuple[npt.ArrayLike, npt.ArrayLike]] | Shards | None,
    centres: int,
) -> Shards | None:
    if loss is None and shards is None:
        return None
    if loss is None or shards is None:
        raise InputError(
            f"is missing, and {'shards' if loss is None else 'a loss'} given",
            where="loss" if loss is None else "shards",
            allowed="both or neither",
            remedy="a loss needs every centre's data",
        )
    checks.object_with(loss, "prepare", "loss", "Logistic()")
    data = shards if isinstance(shards, Shards) else Shards.of(shards)
    if data.centres != centres:
        raise InputError(
            f"are {data.centres}",
            where="shards",
            allowed=f"{centres}, one for each cost in cpu",
            remedy="split the data with walras.network.split(features, targets, centres)",
        )
    return loss.prepare(data)

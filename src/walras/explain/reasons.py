"""Why a demand moved from one resource to another, in words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from walras.certificate import Certificate
from walras.explain.active import Active, resource_prices
from walras.explain.why import entry_terms
from walras.separable import Separable

_CHANGED = 1e-3  # relative change from which a price or a benefit counts as changed


def names_of(names: Sequence[str]) -> list[str]:
    """Names as text."""
    return [str(name) for name in names]


class _Market:
    """One round as its demands see it: prices of resources, what entries bring and cost."""

    def __init__(self, problem: Separable, certificate: Certificate, state: Active) -> None:
        self.resources = {name: i for i, name in enumerate(names_of(problem.resource_names))}
        self._demands = {name: j for j, name in enumerate(names_of(problem.demand_names))}
        self._prices = np.abs(resource_prices(problem, state.prices, certificate.t))
        entries = np.arange(problem.entries)
        self._benefit, self._cost = entry_terms(problem, certificate, state, entries)
        key = problem.demand.astype(np.int64) * len(self.resources) + problem.resource
        key[(problem.demand < 0) | (problem.resource < 0)] = -1
        # Of several entries of a pair the one nearest to breaking even comes first.
        self._order = np.lexsort((np.abs(self._cost - self._benefit), key))
        self._key = key[self._order]

    def price(self, resource: str) -> float:
        """Total price of a resource's rows."""
        return float(self._prices[self.resources[resource]])

    def terms(self, demand: str, resource: str) -> tuple[float, float] | None:
        """(benefit, cost) of a demand's marginal unit of a resource, None if it cannot have any."""
        if resource not in self.resources:
            return None
        key = self._demands[demand] * len(self.resources) + self.resources[resource]
        place = int(np.searchsorted(self._key, key))
        if place == len(self._key) or self._key[place] != key:
            return None
        q = self._order[place]
        return float(self._benefit[q]), float(self._cost[q])


class Reasons:
    """Two rounds, asked why a demand moved.

    Args:
        now: Problem and certificate of the later round.
        state: What is in use in it.
        before: The same of the earlier one.
        earlier: What was in use in that.
    """

    def __init__(
        self,
        now: tuple[Separable, Certificate],
        state: Active,
        before: tuple[Separable, Certificate],
        earlier: Active,
    ) -> None:
        self._now, self._before = _Market(*now, state), _Market(*before, earlier)

    def of(self, demand: str, lost: str, gained: str) -> str:
        """Why a demand of both rounds moved.

        Args:
            demand: Its name.
            lost: Resource it lost most of, or empty.
            gained: Resource it gained most of, or empty.
        """
        moves = [(name, sense) for name, sense in ((lost, -1.0), (gained, 1.0)) if name]
        reasons = [self._access(demand, name) or self._price(name, sense) for name, sense in moves]
        if not any(reasons):
            reasons = [self._benefit(demand, name, sense) for name, sense in moves]
        reasons = [word for word in reasons if word]
        if lost and gained:
            reasons.append(self._choice(demand, lost, gained))
        return "; ".join(reasons) or "other rows of it changed"

    def _access(self, demand: str, resource: str) -> str:
        if resource not in self._now.resources:
            return f"{resource} is gone"
        if resource not in self._before.resources:
            return f"{resource} is new"
        if self._now.terms(demand, resource) is None:
            return f"{resource} is no longer allowed"
        if self._before.terms(demand, resource) is None:
            return f"{resource} is now allowed"
        return ""

    def _price(self, resource: str, sense: float) -> str:
        old, new = self._before.price(resource), self._now.price(resource)
        if sense * (old - new) <= _CHANGED * max(old, new):
            return ""
        return f"{resource} became {'dearer' if sense < 0 else 'cheaper'}: {old:.3g} -> {new:.3g}"

    def _benefit(self, demand: str, resource: str, sense: float) -> str:
        old, new = self._before.terms(demand, resource), self._now.terms(demand, resource)
        if old is None or new is None:
            return ""
        if sense * (new[0] - old[0]) <= _CHANGED * max(old[0], new[0]):
            return ""
        more = "more" if sense > 0 else "less"
        return f"{resource} brings it {more}: {old[0]:.3g} -> {new[0]:.3g}"

    def _choice(self, demand: str, lost: str, gained: str) -> str:
        other = self._now.terms(demand, lost)
        if other is None or other[1] - other[0] > _CHANGED * max(other[0], 1e-300):
            return f"{gained} is now its best"
        return f"{gained} and {lost} are equally good now"

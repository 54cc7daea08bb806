"""Why an allocation changed between two rounds: churn, prices, rows that bind, and reasons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from walras.certificate import Certificate
from walras.insight.active import active, resource_prices
from walras.insight.explain import entry_terms
from walras.separable import Separable

Round = tuple[Separable, Certificate]

_MOVED = 1e-6  # share of the largest amount below which a change is none
_DEARER = 1e-3  # relative change below which a price or a benefit has not changed
_SHOWN = 5


@dataclass(frozen=True, eq=False)
class Difference:
    """Why an allocation changed between two rounds.

    Attributes:
        churn: Units moved in all: half of what demands of both rounds lost and gained.
        demands: One row a demand that changed, most moved first: ``demand``, ``change`` (arrived,
            departed, moved), ``moved``, ``lost`` and ``gained`` (the resource of which it lost and
            gained most, or None), ``reason``.
        prices: One row a constraint row of both rounds: ``row``, ``before``, ``now``, ``change``;
            most changed first.
        began: Rows that bind now and did not before.
        ceased: Rows that bound before and no longer do.
        arrived: Demands that are new.
        departed: Demands that are gone.
    """

    churn: float
    demands: pd.DataFrame
    prices: pd.DataFrame
    began: tuple[str, ...]
    ceased: tuple[str, ...]
    arrived: tuple[str, ...]
    departed: tuple[str, ...]

    def frame(self) -> pd.DataFrame:
        """One row a demand that changed, with what it moved and why."""
        return self.demands

    def __str__(self) -> str:
        stayed = self.demands[self.demands["change"] == "moved"]
        lines = [
            f"{self.churn:.4g} units moved among {len(stayed)} demands; "
            f"{len(self.arrived)} arrived, {len(self.departed)} departed."
        ]
        for words, names in (
            ("arrived", self.arrived), ("departed", self.departed),
            ("now bind", self.began), ("no longer bind", self.ceased),
        ):  # fmt: skip
            if names:
                lines.append(f"{words}: {_listed(names)}")
        changed = self.prices[self.prices["change"] != 0].head(_SHOWN)
        lines += [f"price of {r.row}: {r.before:.4g} -> {r.now:.4g}" for r in changed.itertuples()]
        lines += [
            f"{r.demand} moved {r.moved:.4g}: {r.reason}"
            for r in stayed.head(_SHOWN).itertuples()
        ]
        return "\n".join(lines)


def difference(now: Round, before: Round) -> Difference:
    """Why the allocation changed; resources, demands and rows are matched by their names.

    Args:
        now: Problem and certificate of the later round.
        before: The same of the earlier one.
    """
    amounts = _amounts(now).join(_amounts(before), how="outer", lsuffix="_now", rsuffix="_before")
    amounts = amounts.fillna(0.0)
    new, old = (_names(side[0].demand_names) for side in (now, before))
    arrived = tuple(name for name in new if name not in set(old))
    departed = tuple(name for name in old if name not in set(new))
    both = amounts[~amounts.index.get_level_values("demand").isin({*arrived, *departed})]
    began, ceased = _binding(now), _binding(before)
    reasons = _Reasons(now, before)
    return Difference(
        churn=0.5 * float((both["amount_now"] - both["amount_before"]).abs().sum()),
        demands=_demands(amounts, set(arrived), set(departed), reasons),
        prices=_prices(now, before),
        began=tuple(name for name in began if name not in set(ceased)),
        ceased=tuple(name for name in ceased if name not in set(began)),
        arrived=arrived, departed=departed,
    )  # fmt: skip


def _names(names: Sequence[str]) -> list[str]:
    return [str(name) for name in names]


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _amounts(side: Round) -> pd.DataFrame:
    """Amounts by the names of demand and resource."""
    problem, certificate = side
    owned = (problem.resource >= 0) & (problem.demand >= 0)
    demand = np.array(_names(problem.demand_names), dtype=object)[problem.demand[owned]]
    resource = np.array(_names(problem.resource_names), dtype=object)[problem.resource[owned]]
    table = pd.DataFrame(
        {"demand": demand, "resource": resource, "amount": certificate.x[owned]}
    )
    return table.groupby(["demand", "resource"], sort=False).sum()


def _binding(side: Round) -> list[str]:
    problem, certificate = side
    return [problem.rows.name(int(k)) for k in np.flatnonzero(active(problem, certificate).rows)]


def _prices(now: Round, before: Round) -> pd.DataFrame:
    def table(side: Round) -> pd.Series[float]:
        rows = side[0].rows
        plain = np.flatnonzero(~rows.is_utility)
        return pd.Series(
            np.abs(side[1].prices[plain]), index=[rows.name(int(k)) for k in plain], dtype=float
        )

    both = pd.concat({"before": table(before), "now": table(now)}, axis=1, join="inner")
    both["change"] = both["now"] - both["before"]
    largest = float(both["before"].abs().max()) if len(both) else 0.0
    both.loc[both["change"].abs() <= _MOVED * largest, "change"] = 0.0
    order = both["change"].abs().sort_values(ascending=False, kind="stable").index
    return both.loc[order].rename_axis("row").reset_index()


def _demands(
    amounts: pd.DataFrame, arrived: set[str], departed: set[str], reasons: _Reasons
) -> pd.DataFrame:
    change = amounts["amount_now"] - amounts["amount_before"]
    largest = float(amounts.abs().to_numpy().max(initial=0.0))
    change = change[change.abs() > _MOVED * largest]
    found = []
    for name, part in change.groupby(level="demand", sort=False):
        own = part.droplevel("demand")
        lost = str(own.idxmin()) if own.min() < 0 else None
        gained = str(own.idxmax()) if own.max() > 0 else None
        demand = str(name)
        kind = "arrived" if demand in arrived else "departed" if demand in departed else "moved"
        found.append(
            {
                "demand": demand, "change": kind,
                "moved": float(max(own.clip(lower=0).sum(), -own.clip(upper=0).sum())),
                "lost": lost, "gained": gained,
                "reason": reasons.of(demand, lost, gained) if kind == "moved" else kind,
            }
        )
    columns = ["demand", "change", "moved", "lost", "gained", "reason"]
    table = pd.DataFrame(found, columns=columns)
    return table.sort_values("moved", ascending=False, kind="stable").reset_index(drop=True)


class _Market:
    """One round seen from a demand: prices of resources, what its entries bring and cost."""

    def __init__(self, side: Round) -> None:
        self.problem, self.certificate = side
        self.resources = {name: i for i, name in enumerate(_names(self.problem.resource_names))}
        self.demands = {name: j for j, name in enumerate(_names(self.problem.demand_names))}
        self.prices = np.abs(resource_prices(self.problem, self.certificate.prices))
        order = np.argsort(self.problem.demand, kind="stable")
        edges = np.searchsorted(self.problem.demand[order], np.arange(len(self.demands) + 1))
        self._order, self._edges = order, edges

    def price(self, resource: str) -> float:
        return float(self.prices[self.resources[resource]])

    def terms(self, demand: str, resource: str) -> tuple[float, float] | None:
        """(benefit, cost) of the demand's marginal entry of a resource; None if it has none."""
        if resource not in self.resources:
            return None
        j, i = self.demands[demand], self.resources[resource]
        entries = self._order[self._edges[j] : self._edges[j + 1]]
        entries = entries[self.problem.resource[entries] == i]
        if not len(entries):
            return None
        benefit, cost = entry_terms(self.problem, self.certificate, entries)
        k = int(np.argmin(np.abs(cost - benefit)))
        return float(benefit[k]), float(cost[k])


class _Reasons:
    """Puts into words why a demand moved."""

    def __init__(self, now: Round, before: Round) -> None:
        self._now, self._before = _Market(now), _Market(before)

    def of(self, demand: str, lost: str | None, gained: str | None) -> str:
        """What changed about the resource it lost most of, and the one it gained most of."""
        words = [self._about(demand, lost, "dearer", -1.0)] if lost else []
        words += [self._about(demand, gained, "cheaper", 1.0)] if gained else []
        told = [word for word in words if word]
        if gained and lost:
            told.append(self._choice(demand, lost, gained))
        return "; ".join(told) or "its other rows changed"

    def _about(self, demand: str, resource: str, word: str, sense: float) -> str:
        """Whether a resource came, went, changed its price or what it brings to the demand."""
        if resource not in self._now.resources:
            return f"{resource} is gone"
        if resource not in self._before.resources:
            return f"{resource} is new"
        then, here = self._before.terms(demand, resource), self._now.terms(demand, resource)
        if here is None:
            return f"{resource} is no longer allowed"
        if then is None:
            return f"{resource} is now allowed"
        old, new = self._before.price(resource), self._now.price(resource)
        if sense * (old - new) > _DEARER * max(old, new):
            return f"{resource} became {word}: {old:.3g} -> {new:.3g}"
        if sense * (here[0] - then[0]) > _DEARER * max(then[0], here[0]):
            more = "more" if sense > 0 else "less"
            return f"{resource} brings it {more}: {then[0]:.3g} -> {here[0]:.3g}"
        return ""

    def _choice(self, demand: str, lost: str, gained: str) -> str:
        mine, other = self._now.terms(demand, gained), self._now.terms(demand, lost)
        if mine is None or other is None:
            return f"{gained} is now its best"
        missing = other[1] - other[0]
        if missing > _DEARER * max(other[0], 1e-300):
            return f"{gained} is now its best"
        return f"{gained} and {lost} are equally good now"

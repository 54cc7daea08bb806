"""Why an allocation changed between two rounds: churn, prices, rows that bind, and reasons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from walras.certificate import Certificate
from walras.explain.active import Active, active
from walras.explain.reasons import Reasons, names_of
from walras.separable import Separable
from walras.separable.naming import check_comparable

Round = tuple[Separable, Certificate]

_MOVED = 1e-6  # share of the largest amount or price below which a change is none
_SHOWN = 5


@dataclass(frozen=True, eq=False)
class Difference:
    """Why an allocation changed between two rounds.

    Attributes:
        churn: Units moved in all: half of what demands of both rounds lost and gained.
        demands: A frame with one row per demand that changed, most moved first: ``demand``,
            ``change`` (arrived, departed, moved), ``moved`` (the larger of what it lost and
            gained), ``lost`` and ``gained`` (the resource of which it lost and gained most, or
            empty), ``reason``.
        prices: A frame with one row per constraint row of both rounds: ``row``, ``before``,
            ``now``, ``change``; most changed first.
        began: Rows that bind now and did not before.
        ceased: Rows that bound before and no longer do.
        arrived: Demands that are new.
        departed: Demands that are gone.
        objectives: Name of the objective before, and now; prices are in units of each one's own.
        values: The objective's value before, and now.

    Example:
        >>> import walras as wl
        >>> from walras.domains import cluster_scheduling as cs
        >>> problem = cs.max_min([[2.0, 1.0], [1.0, 2.0]], [1, 1], [1, 1])
        >>> s = wl.solve(problem)
        >>> later = wl.solve(cs.max_min([[2.0, 1.0], [1.0, 2.0]], [1, 1], [2, 1]))
        >>> change = later.diff(s)
        >>> change.arrived, change.departed
        ((), ())
    """

    churn: float
    demands: pd.DataFrame
    prices: pd.DataFrame
    began: tuple[str, ...]
    ceased: tuple[str, ...]
    arrived: tuple[str, ...]
    departed: tuple[str, ...]
    objectives: tuple[str, str]
    values: tuple[float, float]

    def frame(self) -> pd.DataFrame:
        """One row a demand that changed, with what it moved and why."""
        return self.demands

    def __str__(self) -> str:
        stayed = self.demands[self.demands["change"] == "moved"]
        lines = [
            *self._direction(),
            f"{self.churn:.4g} units moved among {len(stayed)} demands; "
            f"{len(self.arrived)} arrived, {len(self.departed)} departed.",
        ]
        for words, names in (
            ("arrived", self.arrived),
            ("departed", self.departed),
            ("now bind", self.began),
            ("no longer bind", self.ceased),
        ):
            if names:
                lines.append(f"{words}: {_listed(names)}")
        changed = self.prices[self.prices["change"] != 0].head(_SHOWN)
        lines += [f"price of {r.row}: {r.before:.4g} -> {r.now:.4g}" for r in changed.itertuples()]
        lines += [
            f"{r.demand} moved {r.moved:.4g}: {r.reason}" for r in stayed.head(_SHOWN).itertuples()
        ]
        return "\n".join(lines)

    def _direction(self) -> list[str]:
        """Which round is the earlier one, by its value, and whether the two compare."""
        (aim, now_aim), (value, now) = self.objectives, self.values
        if aim == now_aim:
            return [f"from the earlier solution to this one: {aim} {value:.6g} -> {now:.6g}"]
        return [
            f"from the solution given ({aim} {value:.6g}) to this one ({now_aim} {now:.6g})",
            "The objectives differ: so do the units of the prices before and now.",
        ]


def difference(now: Round, before: Round) -> Difference:
    """Why the allocation changed; resources, demands and rows are matched by their names.

    Args:
        now: Problem and certificate of the later round.
        before: The same of the earlier one.

    Returns:
        The difference, which prints as text.

    Raises:
        InputError: The problems are of different size and their demands or resources have no names.

    Example:
        >>> import walras as wl
        >>> from walras.domains import cluster_scheduling as cs
        >>> problem = cs.max_min([[2.0, 1.0], [1.0, 2.0]], [1, 1], [1, 1])
        >>> s = wl.solve(problem)
        >>> later = wl.solve(cs.max_min([[2.0, 1.0], [1.0, 2.0]], [1, 1], [2, 1]))
        >>> from walras.explain import difference
        >>> now, before = (later.problem, later.certificate), (problem, s.certificate)
        >>> difference(now, before).values == (s.value, later.value)
        True
    """
    check_comparable(now[0], before[0], "other")
    amounts = pd.concat({"now": _amounts(now), "before": _amounts(before)}, axis=1).fillna(0.0)
    new, old = names_of(now[0].demand_names), names_of(before[0].demand_names)
    arrived = tuple(name for name in new if name not in set(old))
    departed = tuple(name for name in old if name not in set(new))
    both = amounts[~amounts.index.get_level_values("demand").isin({*arrived, *departed})]
    states = active(*now), active(*before)
    began, ceased = _binding(now, states[0]), _binding(before, states[1])
    reasons = Reasons(now, states[0], before, states[1])
    return Difference(
        churn=0.5 * float((both["now"] - both["before"]).abs().sum()),
        demands=_demands(amounts, set(arrived), set(departed), reasons),
        prices=_prices(now, states[0], before, states[1]),
        began=tuple(name for name in began if name not in set(ceased)),
        ceased=tuple(name for name in ceased if name not in set(began)),
        arrived=arrived,
        departed=departed,
        objectives=(before[0].objective, now[0].objective),
        values=(_value(before), _value(now)),
    )


def _value(side: Round) -> float:
    problem, certificate = side
    return float(problem.reported(certificate.value))


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _amounts(side: Round) -> pd.Series[float]:
    """Amounts by the names of demand and resource; of entries where none has a resource."""
    problem, certificate = side
    by_entry = bool(np.all(problem.resource < 0))
    held = np.flatnonzero(
        (by_entry | (problem.resource >= 0)) & (problem.demand >= 0) & (certificate.x != 0)
    )
    demand = np.array(names_of(problem.demand_names), dtype=object)[problem.demand[held]]
    resource = (
        np.array([problem.entry_name(int(q)) for q in held], dtype=object)
        if by_entry
        else np.array(names_of(problem.resource_names), dtype=object)[problem.resource[held]]
    )
    table = pd.DataFrame({"demand": demand, "resource": resource, "amount": certificate.x[held]})
    return table.groupby(["demand", "resource"], sort=False)["amount"].sum()


def _binding(side: Round, state: Active) -> list[str]:
    return [side[0].rows.name(int(k)) for k in np.flatnonzero(state.rows)]


def _prices(now: Round, state: Active, before: Round, earlier: Active) -> pd.DataFrame:
    def table(problem: Separable, known: Active) -> pd.Series[float]:
        plain = np.flatnonzero(~problem.rows.is_utility)
        names = [problem.rows.name(int(k)) for k in plain]
        return pd.Series(np.abs(known.prices[plain]), index=names, dtype=float)

    then, here = table(before[0], earlier), table(now[0], state)
    both = pd.concat({"before": then, "now": here}, axis=1, join="inner")
    both["change"] = both["now"] - both["before"]
    largest = float(both["before"].abs().max()) if len(both) else 0.0
    both.loc[both["change"].abs() <= _MOVED * largest, "change"] = 0.0
    order = both["change"].abs().sort_values(ascending=False, kind="stable").index
    return both.loc[order].rename_axis("row").reset_index()


def _demands(
    amounts: pd.DataFrame, arrived: set[str], departed: set[str], reasons: Reasons
) -> pd.DataFrame:
    """Each demand that changed, with the resources it lost and gained most of."""
    table = amounts.reset_index()
    table["change"] = table["now"] - table["before"]
    largest = float(amounts.abs().to_numpy().max(initial=0.0))
    table = table[table["change"].abs() > _MOVED * largest]
    table = table.sort_values(["demand", "change"], kind="stable")
    first = np.flatnonzero(~table["demand"].duplicated(keep="first").to_numpy())
    last = np.flatnonzero(~table["demand"].duplicated(keep="last").to_numpy())
    demand, resource = table["demand"].to_numpy(), table["resource"].to_numpy()
    change = table["change"].to_numpy(dtype=float)
    found = []
    for low, high in zip(first, last, strict=True):
        part, name = change[low : high + 1], str(demand[low])
        lost = str(resource[low]) if change[low] < 0 else ""
        gained = str(resource[high]) if change[high] > 0 else ""
        kind = "arrived" if name in arrived else "departed" if name in departed else "moved"
        moved = max(float(part[part > 0].sum()), float(-part[part < 0].sum()))
        reason = reasons.of(name, lost, gained) if kind == "moved" else kind
        found.append((name, kind, moved, lost, gained, reason))
    columns = ["demand", "change", "moved", "lost", "gained", "reason"]
    out = pd.DataFrame(found, columns=columns)
    return out.sort_values("moved", ascending=False, kind="stable").reset_index(drop=True)

"""Why a demand got what it got: its prices, the rows that bind it, what else it could have had.

An entry of a demand brings a *benefit* (the terms of its reduced cost that improve the objective:
its own cost, its part in utilities and in rows that gain by it) and has a *cost* (what it takes
from rows that have a price). Entries in use break even; any other misses by cost less benefit.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TypeVar

import numpy as np
import pandas as pd

from walras import checks
from walras.certificate import Certificate
from walras.errors import InputError
from walras.explain.active import Active, active
from walras.separable import Separable, Side
from walras.separable.amounts import scaled_amounts
from walras.types import Bools, Floats, Longs

_PLAINLY = 1e-3  # share of an entry's reach from which it is in use, whatever its reduced cost
_SHOWN = 5  # entries and rows that the text lists


@dataclass(frozen=True, eq=False)
class Explanation:
    """Why a demand got what it got; prices and benefits are in the user's objective.

    Attributes:
        demand: Its name.
        choices: A frame with one row per resource it could use: ``resource``, ``amount``,
            ``benefit`` and ``cost`` of one more unit, ``reduced_cost`` (cost less benefit),
            ``misses_by`` (the same as a share of the benefit), ``used``; those in use first, then
            the nearest misses.
        rows: A frame with one row per constraint it meets: ``row``, ``activity``, ``bound``,
            ``price``, ``binds``, ``own``, ``resource`` (that owns the row, or None).
        reached: Activity of its utilities and of the rows that hold a shared scalar, by name: its
            throughput.
        marginal: What one more unit of each of them would add to the objective.
        level: Of a leximin problem, the level that holds the demand, whose objective and prices
            count. An entry that brings more than it costs there is in use for an earlier level.

    Example:
        >>> import walras as wl
        >>> from walras.domains import cluster_scheduling as cs
        >>> problem = cs.max_min([[2.0, 1.0], [1.0, 2.0]], [1, 1], [1, 1])
        >>> s = wl.solve(problem)
        >>> why = s.explain(1)
        >>> why.demand, list(why.choices["resource"])
        ('1', ['1', '0'])
    """

    demand: str
    choices: pd.DataFrame
    rows: pd.DataFrame
    reached: dict[str, float]
    marginal: dict[str, float]
    level: str = ""

    @property
    def price(self) -> float:
        """Total price of the demand's own constraint rows."""
        own = self.rows[self.rows["own"]]
        return float(own["price"].sum())

    def frame(self) -> pd.DataFrame:
        """One row a resource the demand could use: what it brings and what it costs."""
        return self.choices

    def __str__(self) -> str:
        used, others = (self.choices[self.choices["used"] == is_used] for is_used in (True, False))
        got = [f"{r.amount:.4g} of {r.resource}" for r in used.itertuples()]
        lines = [f"{self.demand} gets {_listed(got)}."]
        lines += [f"It is held {self.level}."] if self.level else []
        for name, level in self.reached.items():
            lines.append(
                f"{name} is {level:.6g}; one more unit of it would add "
                f"{self.marginal[name]:.4g} to the objective."
            )
        near = {*used["resource"].head(_SHOWN), *others["resource"].head(1), ""}
        lines += [
            row.line()
            for row in _records(self.rows, _Row)
            if row.own or (row.binds and row.resource in near)
        ]
        lines += [choice.line() for choice in _records(used.head(_SHOWN), _Choice)]
        lines += [
            "next best: " + choice.line(is_later=bool(self.level))
            for choice in _records(others.head(1), _Choice)
        ]
        return "\n".join(lines)


def explain(problem: Separable, certificate: Certificate, demand: str | int) -> Explanation:
    """Why a demand got what it got.

    Args:
        problem: The problem.
        certificate: Its certified point.
        demand: Name of the demand, or its index.

    Returns:
        The explanation, which prints as text.

    Raises:
        InputError: There is no such demand; names close ones.

    Example:
        >>> import walras as wl
        >>> from walras.domains import cluster_scheduling as cs
        >>> problem = cs.max_min([[2.0, 1.0], [1.0, 2.0]], [1, 1], [1, 1])
        >>> s = wl.solve(problem)
        >>> from walras.explain import explain
        >>> explain(problem, s.certificate, demand=1).demand
        '1'
    """
    j = demand_index(problem, demand)
    entries = np.flatnonzero(problem.demand == j)
    state = active(problem, certificate)
    part = problem.rows.matrix[:, entries]
    met = np.union1d(part.indices.astype(np.int64), _owned(problem, j))
    reached, marginal = _reached(problem, certificate, state, met)
    return Explanation(
        demand=str(problem.demand_names[j]),
        choices=_choices(problem, certificate, state, entries),
        rows=_rows(problem, certificate, state, met, j),
        reached=reached,
        marginal=marginal,
    )


def demand_index(problem: Separable, demand: object) -> int:
    """Index of a demand given by name or index.

    Raises:
        InputError: There is no such demand; names close ones.
    """
    names = [str(name) for name in problem.demand_names]
    if not names:
        raise InputError(
            "the problem has no demands to explain",
            where="demand",
            allowed="problems whose constraints are of resources and of demands",
            remedy="read the constraints' dual values, or state the problem in the separable form",
        )
    if isinstance(demand, str):
        return names.index(checks.one_of(demand, "demand", names, "demand named"))
    index = -1
    if isinstance(demand, int | np.integer) and not isinstance(demand, bool):
        index = int(demand)
        if index >= len(names) and str(index) in names:  # a label, for no index is as large
            index = names.index(str(index))
    if not 0 <= index < len(names):
        raise InputError(
            f"is {demand!r}",
            where="demand",
            allowed=f"0 to {len(names) - 1}, or a name",
            remedy="use an index of the problem's demands",
        )
    return index


def entry_terms(
    problem: Separable, certificate: Certificate, state: Active, entries: Longs
) -> tuple[Floats, Floats]:
    """(benefit, cost) of one more unit of each entry at the prices of what binds, both >= 0."""
    part = problem.rows.matrix[:, entries].tocoo()
    terms = part.data * state.prices[part.row]
    direct = problem.cost[entries] + problem.quadratic[entries] * certificate.x[entries]
    count = len(entries)
    benefit = np.maximum(-direct, 0.0)
    cost = np.maximum(direct, 0.0)
    benefit += np.bincount(part.col, weights=np.maximum(-terms, 0.0), minlength=count)
    cost += np.bincount(part.col, weights=np.maximum(terms, 0.0), minlength=count)
    return benefit, cost


def _choices(
    problem: Separable, certificate: Certificate, state: Active, entries: Longs
) -> pd.DataFrame:
    """One row a resource; of several entries for one the amounts add, the marginal one speaks."""
    benefit, cost = entry_terms(problem, certificate, state, entries)
    amount = certificate.x[entries]
    reduced = cost - benefit
    owner = problem.resource[entries].astype(np.int64)
    names = np.array([*(str(name) for name in problem.resource_names), "-"], dtype=object)[owner]
    # Entries without a resource, such as flows on paths, are choices of their own.
    alone = np.flatnonzero(owner < 0)
    names[alone] = [problem.entry_name(int(q)) for q in entries[alone]]
    owner[alone] = -1 - alone
    table = pd.DataFrame(
        {
            "owner": owner,
            "resource": names,
            "amount": amount,
            "benefit": benefit,
            "cost": cost,
            "reduced_cost": reduced,
            "misses_by": reduced / np.where(benefit > 0, benefit, np.nan),
            "size": np.abs(reduced),
            "used": state.entries[entries] | (np.abs(amount) > _PLAINLY * state.reach[entries]),
        }
    )
    total = table.groupby("owner")["amount"].sum()
    used = table.groupby("owner")["used"].any()
    table = table.sort_values("size", kind="stable").drop_duplicates("owner")
    table["amount"] = table["owner"].map(total)
    table["used"] = table["owner"].map(used)
    first = table[table["used"]].sort_values("amount", ascending=False, kind="stable")
    rest = table[~table["used"]].sort_values("misses_by", kind="stable")
    return pd.concat([first, rest]).drop(columns=["owner", "size"]).reset_index(drop=True)


def _owned(problem: Separable, j: int) -> Longs:
    rows = problem.rows
    return np.flatnonzero((rows.side == Side.DEMAND) & (rows.owner == j))


def _holds_level(problem: Separable, met: Longs) -> Bools:
    """Rows that state what the demand is for: utilities, and rows with a shared scalar."""
    rows = problem.rows
    shared = np.any(rows.scalar_matrix[met], axis=1)
    level: Bools = rows.is_utility[met] | shared
    level &= rows.side[met] != Side.RESOURCE
    return level


def _reached(
    problem: Separable, certificate: Certificate, state: Active, met: Longs
) -> tuple[dict[str, float], dict[str, float]]:
    """Activity of the level rows without their scalars, and what a unit more of it would add."""
    rows = problem.rows
    own = state.activity - rows.scalar_matrix @ certificate.t
    reached, marginal = {}, {}
    for k in met[_holds_level(problem, met)]:
        # A row t - y <= 0 states y with its sign turned.
        sign = -1.0 if not rows.is_utility[k] and np.isfinite(rows.upper[k]) else 1.0
        reached[rows.name(int(k))] = float(sign * own[k])
        marginal[rows.name(int(k))] = float(-sign * state.prices[k]) + 0.0
    return reached, marginal


def _rows(
    problem: Separable, certificate: Certificate, state: Active, met: Longs, j: int
) -> pd.DataFrame:
    rows = problem.rows
    met = met[~_holds_level(problem, met) & ~rows.is_utility[met]]
    price = state.prices[met]
    high = np.where(price != 0, price > 0, np.isfinite(rows.upper[met]))
    own = (rows.side[met] == Side.DEMAND) & (rows.owner[met] == j)
    allowed = scaled_amounts(rows, certificate.t)[met]
    table = pd.DataFrame(
        {
            "row": [rows.name(int(k)) for k in met],
            "activity": state.activity[met] + allowed,
            "bound": np.where(high, rows.upper[met], rows.lower[met]) + allowed,
            "price": price,
            "binds": state.rows[met],
            "own": own,
            "resource": [
                str(problem.resource_names[rows.owner[k]])
                if rows.side[k] == Side.RESOURCE and rows.owner[k] >= 0
                else ""
                for k in met
            ],
        }
    )
    order = ["own", "binds", "price"]
    return table.sort_values(order, ascending=False, kind="stable").reset_index(drop=True)


def _listed(words: list[str]) -> str:
    more = len(words) - _SHOWN
    return (", ".join(words[:_SHOWN]) or "nothing") + (f" and {more} more" if more > 0 else "")


@dataclass(frozen=True)
class _Row:
    """One line of ``Explanation.rows``."""

    row: str
    activity: float
    bound: float
    price: float
    binds: bool
    own: bool
    resource: str | None

    def line(self) -> str:
        """The line in words."""
        if not self.binds:
            return f"{self.row} does not bind: {self.activity:.4g} of {self.bound:.4g}."
        return f"{self.row} binds at {self.bound:.4g}, price {self.price:.4g}."


@dataclass(frozen=True)
class _Choice:
    """One line of ``Explanation.choices``."""

    resource: str
    amount: float
    benefit: float
    cost: float
    reduced_cost: float
    misses_by: float
    used: bool

    def line(self, *, is_later: bool = False) -> str:
        """The line in words; ``is_later`` where there may be levels before."""
        start = f"{self.resource}: a unit brings {self.benefit:.4g} and costs {self.cost:.4g}"
        if self.benefit <= 0 and self.cost <= 0:
            return f"{self.resource}: a unit more brings and costs nothing."
        if self.used:
            return f"{start}."
        if self.benefit <= 0:
            return f"{start}: it brings nothing."
        if is_later and self.reduced_cost < -_PLAINLY * self.benefit:
            return f"{start}, but is kept for the levels before."
        if self.reduced_cost <= 1e-6 * self.benefit:
            return f"{start}: as good as those in use."
        return f"{start}: misses by {100 * self.reduced_cost / self.benefit:.3g} %."


_Line = TypeVar("_Line", _Row, _Choice)


def _records(frame: pd.DataFrame, kind: type[_Line]) -> list[_Line]:
    """The frame's lines as typed records."""
    columns = [frame[field.name].tolist() for field in fields(kind)]
    return [kind(*line) for line in zip(*columns, strict=True)]

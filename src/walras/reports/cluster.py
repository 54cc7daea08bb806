"""What a cluster's allocation came to: facts, resources, quotas and jobs as tables."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from walras.domains import cluster_scheduling as cs
from walras.domains.cluster_scheduling.tables import ClusterTables
from walras.reports.solution import facts_of
from walras.reports.tables import Cell, Table
from walras.solution import Solution
from walras.types import Floats

_NEGLIGIBLE = 1e-9  # shares of time below this are rounding
_SMALL = 5e-4  # shares of time below this are not worth a word
_IDLE = 0.01  # share of all GPUs from which idle ones are worth a hint


@dataclass(frozen=True, eq=False)
class ClusterResult:
    """An allocation of a cluster beside the tables that it is for.

    Attributes:
        given: The tables.
        solution: The allocation and its proof.
        makespan: Whether the objective is the makespan, under which jobs are due their steps.
    """

    given: ClusterTables
    solution: Solution
    makespan: bool = False

    @property
    def x(self) -> Floats:
        """(resources, jobs) shares of time without rounding."""
        return np.where(self.solution.x > _NEGLIGIBLE, self.solution.x, 0.0)

    @property
    def judged(self) -> cs.Evaluation:
        """What each job gets, by an evaluation that trusts no solver."""
        g = self.given
        return cs.evaluate(g.throughput, g.size, g.capacity, self.x, g.weight, quota=g.quota)

    @property
    def due(self) -> Floats:
        """(jobs,) what a throughput is divided by to compare jobs: steps left, or 1."""
        if self.makespan and self.given.steps is not None:
            return np.asarray(self.given.steps, dtype=np.float64)
        return np.ones(len(self.given.size))

    def facts(self) -> dict[str, Cell]:
        """The objective, its proof and what was left out, by name."""
        judged = self.judged
        facts = facts_of(self.solution, judged.violation)
        if self.solution.levels:
            facts["levels"] = ", ".join(f"{level.value:.6g}" for level in self.solution.levels)
        if self.makespan:
            ends = self.due / np.maximum(judged.throughput, np.finfo(float).tiny)
            facts["makespan in seconds"] = float(np.max(ends))
        if self.given.left_out:
            facts["rows left out"] = len(self.given.left_out)
        return facts

    def resources(self) -> Table:
        """Use and price of each resource; drained ones last."""
        judged, prices = self.judged, np.abs(self.solution.prices.resources)
        names = list(self.given.throughput.index)
        columns = (names, judged.capacity.tolist(), judged.used.tolist(), prices.tolist())
        rows: list[tuple[Cell, ...]] = list(zip(*columns, strict=True))
        rows += [(f"{name} (drained)", 0.0, 0.0, None) for name in self.given.drained]
        return Table(("resource", "capacity", "used", "price of one more"), rows)

    def quotas(self) -> Table | None:
        """Use and price of each group's limit; None without quotas."""
        quota = self.given.quota
        if quota is None:
            return None
        prices = self._prices_of_groups()
        names, size = list(self.given.size.index), self.given.size.to_numpy(dtype=np.float64)
        held = dict(zip(names, (self.x.sum(axis=0) * size).tolist(), strict=True))
        rows = [
            (name, limit, sum(held[str(job)] for job in quota.groups[name]), prices.get(name))
            for name, limit in quota.limits.items()
        ]
        return Table(("group", "limit", "used", "price of one more"), rows)

    def _prices_of_groups(self) -> dict[str, float]:
        """Price of each group's row; rows are named for their group."""
        rows, prices = self.solution.problem.rows, self.solution.prices.rows
        found: dict[str, float] = {}
        for family in rows.families:
            if family.name.startswith("quota"):
                for r in range(family.start, family.stop):
                    found[rows.name(r).partition("[")[2].rstrip("]")] = abs(float(prices[r]))
        return found

    def shares(self) -> Table:
        """Every job's shares of time, as ``--previous`` and ``--start`` read them back."""
        resources, jobs = list(self.given.throughput.index), list(self.given.throughput.columns)
        nothing = [0.0] * len(self.given.drained)
        rows = [(job, *own, *nothing) for job, own in zip(jobs, self.x.T.tolist(), strict=True)]
        return Table(("job", *resources, *self.given.drained), rows)

    def jobs(self, most: int | None = None) -> Table:
        """The jobs that get least of what is due, by weight; all when ``most`` is None."""
        x, judged = self.x, self.judged
        resources, names = list(self.given.throughput.index), list(self.given.throughput.columns)
        order = np.argsort(judged.throughput / (self.due * judged.weight), kind="stable")
        rows: list[tuple[Cell, ...]] = []
        for j in order[:most].tolist():
            used = [i for i in np.argsort(-x[:, j]).tolist() if x[i, j] > _SMALL]
            shares = ", ".join(f"{resources[i]} {x[i, j]:.3f}" for i in used)
            rows.append((names[j], float(judged.throughput[j]), shares))
        title = f"worst off {len(rows)} of {len(names)} jobs"
        return Table(("job", "throughput", "shares of time"), rows, title)

    def record(self) -> dict[str, object]:
        """All of it, for JSON."""
        facts, quotas, judged, x = self.facts(), self.quotas(), self.judged, self.x
        resources, jobs = list(self.given.throughput.index), list(self.given.throughput.columns)
        allocation = [
            {
                "job": job,
                "throughput": float(judged.throughput[j]),
                "shares": {resources[i]: float(x[i, j]) for i in np.flatnonzero(x[:, j])},
            }
            for j, job in enumerate(jobs)
        ]
        return {
            **Table(tuple(facts), [tuple(facts.values())]).records()[0],
            "resources": self.resources().records(),
            **({} if quotas is None else {"quotas": quotas.records()}),
            "allocation": allocation,
            **({"left out": dict(self.given.left_out)} if self.given.left_out else {}),
        }

    def hint(self) -> str:
        """What may be worth a try where max-min leaves GPUs idle; else empty."""
        judged = self.judged
        idle = 1.0 - judged.utilisation
        if idle < _IDLE:
            return ""
        return (
            f"{100 * idle:.0f} % of the GPUs are idle: max-min ends with the worst-off job; "
            "--objective leximin raises the others next"
        )


def worth_table(solution: Solution) -> Table:
    """What one more unit of each resource buys, and how far that price holds.

    Args:
        solution: The solution.
    """
    frame = solution.worth()
    names = ("row", "price", "utilisation", "gain_of_one", "holds_down", "holds_up", "basis")
    rows = [tuple(row) for row in frame[list(names)].itertuples(index=False)]
    columns = ("one more of", "price", "share used", "gains", "holds -", "holds +", "basis")
    return Table(columns, rows, "what one more unit buys, and how far its price holds", 3)

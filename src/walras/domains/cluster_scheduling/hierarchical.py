"""Fairness between entities, and fairness or first come first served among the jobs of each."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Unpack

import numpy as np

from walras import checks
from walras.domains.cluster_scheduling import rows
from walras.domains.cluster_scheduling.case import Case, Options, refuse_churn
from walras.domains.cluster_scheduling.matrices import Matrix, Sizes, Vector
from walras.short_repr import short_repr
from walras.solution import Solution
from walras.solving import solve
from walras.status import Status
from walras.types import Bools, Floats, Ints

INSIDE = ("fairness", "fifo")
"""How the jobs of an entity share what it gets."""

_PRICED = 1e-7  # share of a level's price from which a job is known to hold the level down
_SLACK = 1e-7  # relative: what was reached is kept but for what a solver may miss
_TOLERANCE = 1e-9  # asked of a level
_GAP = 1e-6  # of a level, relative to the height of the water, at which it is proved


@short_repr
@dataclass(frozen=True, eq=False)
class WaterLevel:
    """A level of the water filling.

    Attributes:
        rise: How far the entities rose, in throughput a unit of weight.
        bound: What no allocation that keeps the levels before exceeds.
        prices: (resources,) how much further the level rises for one more GPU of each type, while
            the jobs keep what the levels before gave them.
        stopped: (jobs,) which jobs cannot rise further.

    Example:
        >>> from walras.domains import cluster_scheduling as cs
        >>> found = cs.hierarchical([[1.0, 0.2]], [1, 1], [1], entity=["a", "b"])
        >>> [(round(level.rise, 3), level.stopped.tolist()) for level in found.levels]
        [(0.167, [True, True])]
        >>> found.levels[0].prices.round(3)
        array([0.167])
    """

    rise: float
    bound: float
    prices: Floats
    stopped: Bools


@short_repr
@dataclass(frozen=True, eq=False)
class Hierarchy:
    """An allocation by water filling, level by level.

    Attributes:
        x: (resources, jobs) shares of time; those of pairs that share are listed by :func:`shares`
            of ``solution``.
        throughput: (jobs,) work per second.
        entities: Names of the entities.
        entity: (entities,) work per second of each, over its jobs.
        levels: The levels.
        status: ``optimal`` where every level is proved.
        solution: The last level's problem, solved.

    Example:
        >>> from walras.domains import cluster_scheduling as cs
        >>> found = cs.hierarchical([[1.0, 1.0, 1.0]], [1, 1, 1], [1], entity=["a", "b", "b"])
        >>> found.throughput.round(3), found.status
        (array([0.5 , 0.25, 0.25]), <Status.OPTIMAL: 'optimal'>)
    """

    x: Floats
    throughput: Floats
    entities: tuple[str, ...]
    entity: Floats
    levels: tuple[WaterLevel, ...]
    status: Status
    solution: Solution


def hierarchical(
    throughput: Matrix,
    size: Sizes,
    capacity: Vector,
    entity: Sequence[Hashable],
    weight: Vector | None = None,
    allowed: Matrix | None = None,
    *,
    entity_weight: Mapping[str, float] | None = None,
    inside: str | Mapping[str, str] = "fairness",
    engine: str = "exact",
    **options: Unpack[Options],
) -> Hierarchy:
    """Raise all entities together, each by its weight, until none of its jobs can rise.

    An entity's weight is shared by those of its jobs that can still rise: by their own weights, or
    the first of them has it all (``fifo``). All jobs rise in these proportions, ``y_j >= base_j +
    pace_j t``, to the largest t (a linear problem). The jobs whose rows have a price at that level
    are at it in every best allocation; they keep it, and the rest rises on. Source: Narayanan et
    al., OSDI 2020 (section 4.3).

    Args:
        throughput: (resources, jobs) work per second; 0 where a job cannot run. Throughputs of
            unlike jobs compare only after :func:`~walras.domains.cluster_scheduling.normalise`.
        size: (jobs,) GPUs that a job occupies while it runs, or (resources, jobs), > 0.
        capacity: (resources,) GPUs of each type, > 0.
        entity: (jobs,) the entity of each job, such as an organisation; jobs of ``fifo`` entities
            are in the order of their arrival.
        weight: (jobs,) weights of jobs within their entity, > 0; 1 if None.
        allowed: (resources, jobs) mask of permitted pairs; all if None.
        entity_weight: Weight of each entity, > 0; 1 where none is given.
        inside: ``fairness`` or ``fifo``, for all entities or by name (``fairness`` where none is
            given).
        engine: Engine of :func:`walras.solve` for the levels.
        **options: ``quota``, ``floor``, ``pairs``, ``resource_names``, ``demand_names``.

    Returns:
        The allocation with its levels.

    Raises:
        InputError: The data cannot be used; names what, where and the remedy.

    Example:
        >>> from walras.domains import cluster_scheduling as cs
        >>> found = cs.hierarchical(
        ...     [[1.0, 1.0, 1.0]], [1, 1, 1], [1], ["a", "b", "b"],
        ...     entity_weight={"a": 3}, inside={"b": "fifo"},
        ... )
        >>> found.throughput.round(3)
        array([0.75, 0.25, 0.  ])
    """
    refuse_churn(options)
    case = Case.of(throughput, size, capacity, weight, allowed, **options)
    groups = _Groups.of(entity, case, entity_weight, inside)
    n = case.cluster.jobs
    base, stopped, levels = np.zeros(n), np.zeros(n, dtype=np.bool_), list[WaterLevel]()
    proved = True
    while not np.all(stopped):
        pace = groups.pace(stopped)
        problem = case.raise_from(base * (1.0 - _SLACK), pace)
        found = solve(problem, engine=engine, tolerance=_TOLERANCE)
        rise = max(float(found.scalars[0]), 0.0)
        x = _within(case, found)
        # What was reached within all rows, so that the next level can keep it.
        reached = -rows.activity(problem, "throughput", x)
        base = np.minimum(base + rise * pace, reached)
        stopped = stopped | groups.held(found, pace, base)
        prices = found.prices["capacity"]
        levels.append(WaterLevel(rise, max(found.bound, rise), prices, stopped))
        height = sum(level.rise for level in levels)  # a late level may rise by nothing
        near = found.certificate.violation <= _SLACK
        proved &= near and levels[-1].bound - rise <= _GAP * height
        if found.status == Status.INTERRUPTED:
            break
    short = found.status if found.status == Status.INTERRUPTED else Status.INACCURATE
    return Hierarchy(
        x=problem.dense(x),
        throughput=reached,
        entities=groups.names,
        entity=np.bincount(groups.of_job, reached, len(groups.names)).astype(np.float64),
        levels=tuple(levels),
        status=Status.OPTIMAL if proved else short,
        solution=found,
    )


def _within(case: Case, found: Solution) -> Floats:
    """(entries,) shares, smaller by what a solver has let them pass capacities and times."""
    x = np.maximum(found.entries, 0.0)
    used = rows.activity(found.problem, "capacity", x) / case.cluster.capacity
    time = rows.activity(found.problem, "time", x)
    return np.asarray(x / max(1.0, float(np.max(used)), float(np.max(time))))


@dataclass(frozen=True, eq=False)
class _Groups:
    """The entities and their jobs.

    Attributes:
        names: Entities, in the order of their first jobs.
        of_job: (jobs,) the entity of each job.
        weight: (entities,) their weights.
        fifo: (entities,) whether their first job goes first.
        own: (jobs,) weights within the entity.
        best: (jobs,) throughput of each job on its best type, alone or in a pair.
    """

    names: tuple[str, ...]
    of_job: Ints
    weight: Floats
    fifo: Bools
    own: Floats
    best: Floats

    @classmethod
    def of(
        cls,
        entity: Sequence[Hashable],
        case: Case,
        entity_weight: Mapping[str, float] | None,
        inside: str | Mapping[str, str],
    ) -> _Groups:
        jobs = [str(name) for name in entity]
        remedy = "give the entity of every job"
        checks.shaped(
            np.zeros(len(jobs)), (case.cluster.jobs,), "entity", "one a job", remedy=remedy
        )
        names = tuple(dict.fromkeys(jobs))
        weights, how = entity_weight or {}, {} if isinstance(inside, str) else inside
        usual = inside if isinstance(inside, str) else INSIDE[0]
        for given in (weights, how):
            for name in given:
                checks.one_of(str(name), "entity", names, "entity")
        chosen = [checks.one_of(how.get(name, usual), "inside", INSIDE) for name in names]
        found = [
            checks.number(weights.get(name, 1.0), f"entity_weight['{name}']", above=0.0)
            for name in names
        ]
        place = {name: k for k, name in enumerate(names)}
        return cls(
            names,
            np.array([place[name] for name in jobs], dtype=np.int32),
            np.array(found),
            np.array([word == "fifo" for word in chosen]),
            case.cluster.weight,
            case.best(),
        )

    def pace(self, stopped: Bools) -> Floats:
        """(jobs,) how fast each job rises: its part of its entity's weight."""
        own = np.where(stopped, 0.0, self.own)
        rising = np.flatnonzero(~stopped)
        first = np.zeros(len(own), dtype=np.bool_)
        first[rising[np.unique(self.of_job[rising], return_index=True)[1]]] = True
        own[self.fifo[self.of_job] & ~first] = 0.0
        total = np.bincount(self.of_job, own, minlength=len(self.names))
        return np.asarray(
            self.weight[self.of_job] * own / np.where(total > 0, total, 1.0)[self.of_job]
        )

    def held(self, found: Solution, pace: Floats, base: Floats) -> Bools:
        """(jobs,) which of the rising jobs hold the level down: by price, or at their best."""
        price = np.maximum(found.prices["throughput"], 0.0) * pace
        now = (price > _PRICED) | ((pace > 0.0) & (base >= self.best * (1.0 - _SLACK)))
        if not np.any(now):  # the price is on none of them: the one with the least room
            room = np.where(pace > 0.0, (self.best - base) / np.where(pace > 0, pace, 1.0), np.inf)
            now[np.argmin(room)] = True
        return np.asarray(now)

"""Hierarchical fairness: between entities, and among the jobs of each, by water filling."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import numpy as np

from walras import checks
from walras.domains import cluster_scheduling
from walras.domains.cluster_scheduling.hierarchical import INSIDE
from walras.policies.options import needs_speeds
from walras.policies.solved import (
    checked_engine,
    labels,
    mean_speed,
    needs_near_weights,
    pairs_of,
    relative_service,
    shares_of,
)
from walras.rounds import JobsSnapshot, Shares
from walras.simulate.time_shared import Policy


def hierarchical(
    entity: Mapping[str, str] | None = None,
    entity_weight: Mapping[str, float] | None = None,
    *,
    inside: str | Mapping[str, str] = "fairness",
    by_speed: bool = True,
    sharing: bool = False,
    engine: str = "exact",
) -> Policy:
    """Hierarchical fairness: entities rise together by their weights, and their jobs within them.

    Service is that of :func:`walras.policies.las`. Entities whose jobs can rise no further pass on
    what they leave, level by level. Source: Narayanan et al., OSDI 2020, section 4.3; see
    :func:`walras.domains.cluster_scheduling.hierarchical`.

    Args:
        entity: Name of a job, or its class -> its entity; a job that neither names is of the entity
            of its class's name.
        entity_weight: Weight of each entity, > 0; 1 where none is given.
        inside: ``fairness`` by the jobs' weights, or ``fifo``; for all entities or by name.
        by_speed: Whether the policy knows speeds.
        sharing: Whether two jobs may share their workers, where the trace has speeds of pairs.
        engine: Of :func:`walras.solve`, for the levels.

    Returns:
        The policy. Its ``value`` is how far the entities rise together at first, a unit of weight,
        and its ``bound`` the most.

    Raises:
        InputError: ``sharing`` is asked for without ``by_speed``, an argument is of another kind
            than stated, or there is no such engine. The policy raises it where a job's weight is
            over 1e8 times another's.

    Example:
        >>> import walras as wl
        >>> from walras.rounds import JobsSnapshot
        >>> jobs = JobsSnapshot.of(
        ...     ["a", "b", "c"], kind=["x", "y", "y"], speed=[[1.0]] * 3, workers=[1]
        ... )
        >>> wl.policies.hierarchical(entity_weight={"x": 3})(jobs).time.round(3).tolist()
        [[0.75], [0.125], [0.125]]
    """
    owner = _named({} if entity is None else entity, "entity")
    weights = _named({} if entity_weight is None else entity_weight, "entity_weight")
    for key, of in owner.items():
        checks.text(of, f"entity[{key!r}]")
    for key, weight in weights.items():
        checks.number(weight, f"entity_weight[{key!r}]", above=0.0)
    ways = {"": inside} if isinstance(inside, str) else _named(inside, "inside")
    for key, way in ways.items():
        checks.one_of(way, f"inside[{key!r}]" if key else "inside", INSIDE)
    checked_engine(engine)
    needs_speeds(by_speed=by_speed, sharing=sharing)
    name = "hierarchical" + " blind" * (not by_speed) + " sharing" * sharing

    def decide(snapshot: JobsSnapshot) -> Shares:
        if not len(snapshot):
            return snapshot.shares(np.zeros(snapshot.speed.shape), policy=name, blind=not by_speed)
        needs_near_weights(snapshot)
        own = [
            owner.get(job, owner.get(kind, kind))
            for job, kind in zip(snapshot.name, snapshot.kind, strict=True)
        ]
        here = set(own)
        found = cluster_scheduling.hierarchical(
            relative_service(snapshot, by_speed=by_speed).T,
            snapshot.size,
            snapshot.workers,
            own,
            snapshot.weight,
            entity_weight={k: v for k, v in weights.items() if k in here},
            inside=inside
            if isinstance(inside, str)
            else {k: v for k, v in inside.items() if k in here},
            engine=engine,
            **labels(snapshot),
            **pairs_of(snapshot, sharing=sharing, unit=mean_speed(snapshot) / snapshot.size),
        )
        first = found.levels[0]
        time, pair, pair_time = shares_of(snapshot, found.solution, sharing=sharing)
        return snapshot.shares(
            time,
            pair=pair,
            pair_time=pair_time,
            policy=name,
            blind=not by_speed,
            value=first.rise,
            bound=first.bound,
        )

    decide.__name__ = name
    return decide


def _named(given: object, where: str) -> dict[str, Any]:
    kind = cast("type[dict[str, Any]]", Mapping)
    return dict(checks.of_kind(given, kind, where, "a table of names and values"))

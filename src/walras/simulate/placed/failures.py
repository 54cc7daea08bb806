"""Failures of clusters with slots, drawn while the run goes on."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np

from walras import checks
from walras.errors import InputError
from walras.simulate.placed.slots import Outage, Slots, draw_outages
from walras.simulate.placed.tasks import TaskTrace
from walras.simulate.time_shared.failures import MOST_TRIES, REPAIR, Failures
from walras.types import Floats

_OF_JOBS = ("checkpoint", "job", "max_attempts")


def drawn_outages(
    given: Failures | None, tasks: TaskTrace, slots: Slots, seed: int
) -> dict[str, Iterator[Outage]]:
    """Outages by cluster, those of :meth:`walras.simulate.Slots.with_failures` without an end.

    Args:
        given: How often clusters fail; of its fields, ``between`` and ``repair`` can be used.
        tasks: The tasks, on the clusters.
        slots: The clusters.
        seed: Of the failures.

    Returns:
        Cluster -> its outages in order; clusters that do not fail are left out.

    Raises:
        InputError: A field is of jobs, a cluster is unknown, the slots have outages already, or a
            task would hardly ever end.
    """
    if given is None:
        return {}
    checks.of_kind(given, Failures, "failures", "walras.simulate.Failures")
    plain = Failures()
    for name in _OF_JOBS:
        if getattr(given, name) != getattr(plain, name):
            raise InputError(
                f"is {getattr(given, name)!r}, and the cluster is Slots",
                where=f"Failures.{name}",
                allowed="between and repair: tasks state their own chances and attempts",
                remedy="leave it out; a run that is lost with its cluster begins anew",
            )
    if slots.outages:
        raise InputError(
            "is given, and the slots have outages",
            where="failures",
            allowed="one of the two",
            remedy="leave out one",
        )
    between = _by_cluster(given.between, math.inf, "between", slots)
    repair = _by_cluster(given.repair, REPAIR, "repair", slots)
    _check_ends(tasks, np.array(list(between.values())))
    return {
        name: draw_outages(name, i, between[name], repair[name], seed)
        for i, name in enumerate(slots.names)
        if between[name] < math.inf
    }


def _by_cluster(
    given: float | Mapping[str, float] | None, lacking: float, name: str, slots: Slots
) -> dict[str, float]:
    """Cluster -> mean seconds."""
    if not isinstance(given, Mapping):
        return dict.fromkeys(slots.names, math.inf if given is None else float(given))
    checks.known_keys(given, slots.names, f"Failures.{name}")
    return {cluster: float(given.get(cluster, lacking)) for cluster in slots.names}


def _check_ends(tasks: TaskTrace, between: Floats) -> None:
    """Refuse a task of s seconds on clusters that fail after m: it ends in e^(s/m) tries."""
    with np.errstate(invalid="ignore"):
        tries = np.where(np.isfinite(tasks.seconds), tasks.seconds / between, np.inf)
    stuck = np.flatnonzero(tries.min(axis=1) > math.log(MOST_TRIES))
    if len(stuck):
        raise InputError(
            f"lets task {tasks.name[stuck[0]]!r} hardly ever end: its clusters hardly ever last",
            where="Failures.between",
            allowed=f"one try of {MOST_TRIES:g} that succeeds, at least",
            remedy="take longer times between failures",
        )

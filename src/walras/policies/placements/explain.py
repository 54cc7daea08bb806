"""Explain a placement: figures of each task, the best other cluster, and why it is not there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from walras.policies.placements.problem import SLACK, Problem
from walras.policies.placements.window import Predictions, Window
from walras.rounds import BINDS
from walras.types import Bools, Floats, Longs

_QUICKER = 1e-12  # relative


@dataclass(frozen=True, eq=False)
class Placed:
    """A placement of the n tasks of a problem, and what it leaves.

    Attributes:
        problem: The problem.
        tasks: (n,) numbers of the tasks in the snapshot.
        cluster: (n,) which cluster.
        drawn: (n,) chance of the cluster where it was drawn, else 0.
    """

    problem: Problem
    tasks: Longs
    cluster: Longs
    drawn: Floats

    @property
    def left(self) -> Longs:
        """(M,) slots that are left."""
        m = len(self.problem.room)
        filled = np.bincount(self.cluster, self.problem.size, m).astype(np.int64)
        left: Longs = self.problem.room - filled
        return left

    @property
    def bounded(self) -> Bools:
        """(M,) clusters whose provider is at its bound."""
        group, cap = self.problem.group, self.problem.cap
        groups = group[self.cluster]
        count = np.bincount(groups[groups >= 0], minlength=len(cap))
        full = np.append(count >= cap, False)
        return full[group]


def figures(placed: Placed, predictions: Predictions, window: Window, n: int) -> dict[str, Any]:
    """The arrays of a decision that tell of each task.

    Args:
        placed: The placement.
        predictions: What was predicted.
        window: The window.
        n: Tasks of the snapshot.

    Returns:
        Fields of :class:`walras.rounds.Decision`, (n,) each.
    """
    figures: dict[str, Any] = {}
    own, tasks = placed.cluster, placed.tasks

    def spread(name: str, values: Floats | Longs, empty: float = 0.0) -> None:
        whole = np.full(n, empty, dtype=values.dtype)
        whole[tasks] = values
        figures[name] = whole

    spread("cluster", own.astype(np.int64), -1)
    for name in (
        "seconds",
        "seconds_low",
        "seconds_high",
        "chance",
        "chance_low",
        "chance_high",
    ):
        spread(name, getattr(predictions, name)[tasks, own])
    spread("propensity", placed.drawn)
    other, after = _runner_up(placed)
    known = other >= 0
    spread("runner_up", other.astype(np.int64), -1)
    for name in ("seconds", "chance"):
        found = getattr(predictions, name)[tasks, np.maximum(other, 0)]
        spread(f"runner_up_{name}", np.where(known, found, 0.0))
    spread("makespan_if_moved", np.where(known, after, 0.0))
    spread("binds", _binds(placed, window))
    return figures


def _runner_up(placed: Placed) -> tuple[Longs, Floats]:
    """The best other cluster of each task: least makespan, then least time; -1 for none."""
    problem, own, n = placed.problem, placed.cluster, len(placed.cluster)
    at = np.arange(n)
    seconds = np.where(problem.usable, problem.seconds, np.inf)
    seconds[at, own] = np.inf
    rest = _without(placed)
    m = len(problem.room)
    work = np.bincount(own, problem.size * problem.picked(problem.seconds, own), m)
    added = np.where(np.isfinite(seconds), problem.size[:, None] * seconds, 0.0)
    queue = np.where(problem.queues, (work + added) / np.maximum(problem.free, 1), 0.0)
    makespan = np.maximum(rest[:, None], np.maximum(seconds, queue))
    makespan[~np.isfinite(seconds)] = np.inf
    least = makespan.min(axis=1, initial=np.inf)
    ties = makespan <= least[:, None] * (1.0 + _QUICKER)
    other = np.where(ties, seconds, np.inf).argmin(axis=1) if m else np.zeros(n, np.int64)
    known = np.isfinite(least)
    return np.where(known, other, -1), np.where(known, least, 0.0)


def _without(placed: Placed) -> Floats:
    """(n,) the makespan without each task; where tasks queue, with its cluster left as it is."""
    problem, own = placed.problem, placed.cluster
    if problem.queues:
        return np.full(len(own), problem.makespan(own))
    seconds = problem.picked(problem.seconds, own)
    if len(seconds) < 2:
        return np.zeros(len(seconds))
    first, second = np.partition(seconds, -2)[-1], np.partition(seconds, -2)[-2]
    rest: Floats = np.where(seconds < first, first, second)
    return rest


def _binds(placed: Placed, window: Window) -> Longs:
    """Why each task is on its cluster, as indices into ``BINDS``."""
    problem, own = placed.problem, placed.cluster
    n = len(own)
    seconds = problem.picked(problem.seconds, own)[:, None]
    kept = window.kept[placed.tasks]
    quicker = problem.usable & ~kept & (problem.seconds < seconds * (1.0 - _QUICKER))
    open_ = quicker & (placed.left >= problem.size[:, None])
    free = open_ & ~placed.bounded
    chance = problem.picked(problem.chance, own)[:, None]
    spare = (problem.success(own) - problem.floor) * n if n else 0.0
    safe = free & (spare + problem.chance - chance >= -SLACK * n)
    code = {name: k for k, name in enumerate(BINDS)}
    return np.select(
        [
            placed.drawn > 0.0,
            (problem.usable | kept).sum(axis=1) == 1,
            safe.any(axis=1),
            free.any(axis=1),
            open_.any(axis=1),
            quicker.any(axis=1),
            kept.any(axis=1),
        ],
        [code[k] for k in ("drawn", "only", "no gain", "floor", "provider", "full", "reserved")],
        code["quickest"],
    ).astype(np.int64)

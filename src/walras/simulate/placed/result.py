"""A run of tasks on clusters with slots: what became of each task, run and round."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from walras.simulate.placed.slots import Outage
from walras.simulate.placed.world import (
    BAD,
    EXPIRED,
    FAILED,
    GOING,
    GOOD,
    LOST,
    NEW,
    OUTCOMES,
    QUEUED,
    RUNNING,
    SUCCEEDED,
    WAITING,
    World,
)
from walras.simulate.result import Run
from walras.types import Floats, Longs

_STATES = {
    NEW: "not arrived",
    WAITING: "waiting",
    QUEUED: "waiting",
    RUNNING: "running",
    SUCCEEDED: "ended",
    FAILED: "failed",
    EXPIRED: "expired",
}


@dataclass(frozen=True, eq=False, repr=False)
class PlacedRun(Run):
    """A finished run of tasks: a :class:`walras.simulate.Run` whose types are clusters.

    Attributes:
        policy: Name of the policy.
        source: Where the tasks come from.
        seed: Of the outcomes of runs.
        round_seconds: Length of a round; 0 where one was held at each change.
        types: (M,) names of the clusters.
        workers: (M,) slots of each.
        name: (N,) names of the tasks.
        kind: (N,) their classes.
        size: (N,) slots that a task takes.
        arrival: (N,) seconds.
        weight: (N,) ones.
        alone: (N, M) true seconds on each cluster; infinite where it cannot run.
        measured: (N,) tasks that were waited for.
        began: (N,) begin of the first run; NaN where there is none.
        ended: (N,) when it succeeded; NaN where it did not.
        done: (N,) 1 where it succeeded, else 0.
        moves: (N,) runs after the first one.
        shared: (N,) zeros: no two tasks share a slot.
        received: (N, M) seconds that it ran on each cluster.
        stopped: (N,) runs lost with their cluster.
        failures: (N,) runs that failed.
        lost: (N,) seconds of those runs.
        undone: (N,) the same as a share of its seconds there, in all.
        failed: (N,) when it failed for good; NaN where it did not.
        down: (K, 4) outages: cluster, -1 for all its slots, begin and end, seconds.
        end: When all measured tasks were settled, or the run was stopped, seconds.
        round_at: (L,) time of each round.
        active: (L,) tasks there.
        running: (L,) tasks that ran after it.
        busy: (L, M) busy slot-seconds until the next round.
        decisions: (L,) ones.
        refused: (L,) whether the decision was refused.
        value: (L,) predicted makespan of what was placed; NaN where nothing was.
        bound: (L,) its lower bound; NaN where the policy gave none.
        fairness: (L,) NaN.
        grants: (K, 7) rows of the ledger: each run has its slots alone.
        violations: Lines about refused decisions.
        policy_seconds: (L,) seconds of the policy; NaN after loading.
        overhead_seconds: (L,) seconds of the simulator; NaN after loading.
        tenant: (N,) who each task is of.
        priority: (N,) its priority.
        deadline: (N,) time by which it must be placed.
        attempts: (N,) how often it was placed.
        settled: (N,) when it succeeded, failed for good or expired; NaN where it did not.
        fate: (N,) what has become of it: ``ended``, ``failed``, ``expired``, ...
        run_task: (K,) task of each run, in order of their starts.
        run_cluster: (K,) cluster of each run.
        run_offered: (K,) when it was placed.
        run_began: (K,) when it began.
        run_ended: (K,) when it ended; NaN where it had not.
        run_outcome: (K,) how it ended: an index into ``succeeded``, ``failed``, ``lost`` (with its
            cluster), ``running``.
        placed: (L,) tasks placed in each round.
        fallback: (L,) whether the decision was a fallback.

    Example:
        >>> import walras as wl
        >>> tasks = wl.simulate.TaskTrace.of(["a", "b"], seconds=[[60.0], [30.0]])
        >>> slots = wl.simulate.Slots({"cluster 0": 1})
        >>> run = wl.simulate.run(tasks, slots, wl.policies.first_fit(), round_seconds=0)
        >>> run.completion.tolist(), run.runs["cluster"].tolist()
        ([60.0, 90.0], ['cluster 0', 'cluster 0'])
    """

    tenant: tuple[str, ...]
    priority: Longs
    deadline: Floats
    attempts: Longs
    settled: Floats
    fate: tuple[str, ...]
    run_task: Longs
    run_cluster: Longs
    run_offered: Floats
    run_began: Floats
    run_ended: Floats
    run_outcome: Longs
    placed: Floats
    fallback: Floats

    @property
    def state(self) -> tuple[str, ...]:
        """(N,) what became of each task: ``ended``, ``failed`` (its attempts are used up),
        ``expired``, ``running``, ``waiting`` or ``not arrived``.
        """
        return self.fate

    @cached_property
    def runs(self) -> pd.DataFrame:
        """One row a run: task, cluster, when it was placed, began and ended, slots, outcome."""
        columns = {
            "task": [self.name[j] for j in self.run_task],
            "cluster": [self.types[i] for i in self.run_cluster],
            "placed": self.run_offered,
            "began": self.run_began,
            "ended": self.run_ended,
            "slots": self.size[self.run_task],
            "outcome": [OUTCOMES[k] for k in self.run_outcome],
        }
        return pd.DataFrame(columns)

    @property
    def fates(self) -> pd.Series:
        """Number of measured tasks by what became of them."""
        mine = [fate for fate, m in zip(self.fate, self.measured, strict=True) if m]
        names = list(dict.fromkeys(_STATES.values()))
        return pd.Series([mine.count(name) for name in names], names, name="tasks")

    def __repr__(self) -> str:
        return super().__repr__().replace("Run(", "PlacedRun(", 1).replace("jobs", "tasks")

    @classmethod
    def _then(cls, parts: Mapping[str, Any]) -> dict[str, Any]:
        """Parts that older runs lack: the runs of tasks tell what failed, but not outages."""
        task, cluster, outcome = (parts[f"run_{name}"] for name in ("task", "cluster", "outcome"))
        until = np.where(outcome == GOING, parts["end"], parts["run_ended"])
        harm = _harm(task, cluster, outcome, until - parts["run_began"], parts["alone"])
        failed = np.array(parts["fate"]) == _STATES[FAILED]
        return {
            **super()._then(parts),
            **harm,
            "failed": np.where(failed, parts["settled"], np.nan),
        }

    def frame(self) -> pd.DataFrame:
        """One row a task: the columns of :meth:`walras.simulate.Run.frame`, and ``tenant``,
        ``priority``, ``deadline``, ``attempts``, ``settled``.
        """
        columns = ("tenant", "priority", "deadline", "attempts", "settled")
        return super().frame().assign(**{name: getattr(self, name) for name in columns})


def result_of(world: World, rounds: Mapping[str, Floats], **words: Any) -> PlacedRun:
    """The result of a world as it stands.

    Args:
        world: The world.
        rounds: (L,) columns of the rounds.
        words: Policy, source, seed, length of a round and violations.
    """
    tasks, slots, log = world.tasks, world.slots, world.log
    n, m = len(tasks), len(slots.names)
    task, cluster = np.array(log.task, np.int64), np.array(log.cluster, np.int64)
    began, outcome = np.array(log.began), np.array(log.outcome, np.int64)
    until = np.where(outcome == GOING, world.now, np.array(log.ended))
    received = np.zeros((n, m))
    np.add.at(received, (task, cluster), until - began)
    first = _by_task(task[::-1], began[::-1], n)  # of several runs the first one counts
    ended = _by_task(task[outcome == GOOD], until[outcome == GOOD], n)
    alone = np.where(tasks.size[:, None] <= slots.slots, tasks.seconds, np.inf)
    work = work_between(
        rounds["at"], world.now, began, until, cluster, tasks.size[task].astype(np.float64), m
    )
    return PlacedRun(
        types=slots.names,
        workers=slots.slots,
        name=tasks.name,
        kind=tasks.kind,
        size=tasks.size,
        arrival=tasks.arrival,
        weight=np.ones(n),
        alone=alone,
        measured=np.array(world.measured, np.bool_),
        began=first,
        ended=ended,
        done=np.where(np.isnan(ended), 0.0, 1.0),
        shared=np.zeros(n),
        moves=np.maximum(np.bincount(task, minlength=n) - 1, 0),
        received=received,
        **_harm(task, cluster, outcome, until - began, alone),
        **_ends(world),
        end=world.now,
        round_at=rounds["at"],
        active=rounds["active"],
        running=rounds["running"],
        busy=work,
        decisions=np.ones(len(rounds["at"])),
        refused=rounds["refused"],
        value=rounds["value"],
        bound=rounds["bound"],
        fairness=np.full(len(rounds["at"]), np.nan),
        grants=_grants(rounds["at"], task, cluster, np.array(log.offered), began, until),
        policy_seconds=rounds["asked"],
        overhead_seconds=rounds["overhead"],
        tenant=tasks.tenant,
        priority=tasks.priority,
        deadline=tasks.deadline,
        attempts=np.array(world.attempts, np.int64),
        settled=np.array(world.settled),
        fate=tuple([_STATES[state] for state in world.state]),
        run_task=task,
        run_cluster=cluster,
        run_offered=np.array(log.offered),
        run_began=began,
        run_ended=np.array(log.ended),
        run_outcome=outcome,
        placed=rounds["placed"],
        fallback=rounds["fallback"],
        **words,
    )


def _harm(
    task: Longs, cluster: Longs, outcome: Longs, seconds: Floats, alone: Floats
) -> Mapping[str, Any]:
    """What failures did to each task, by name, from its runs and their seconds."""
    n = len(alone)
    vain = np.where((outcome == BAD) | (outcome == LOST), seconds, 0.0)
    return {
        "stopped": np.bincount(task[outcome == LOST], minlength=n),
        "failures": np.bincount(task[outcome == BAD], minlength=n),
        "lost": np.bincount(task, vain, n).astype(np.float64),
        "undone": np.bincount(task, vain / alone[task, cluster], n).astype(np.float64),
    }


def _ends(world: World) -> Mapping[str, Any]:
    """When tasks failed for good, and the outages, by name."""
    failed = np.array(world.state) == FAILED
    return {
        "failed": np.where(failed, np.array(world.settled), np.nan),
        "down": _down(world.outages, world.slots.names, world.now),
    }


def _down(outages: Sequence[Outage], names: Sequence[str], end: float) -> Floats:
    """(K, 4) rows of the outages in which a cluster was down, of those that began before the end:
    cluster, -1 for all its slots, begin and end.
    """
    rows = [
        (names.index(outage.cluster), -1, outage.begin, outage.end)
        for outage in sorted(outages, key=lambda outage: (outage.begin, outage.cluster))
        if outage.state == "down" and outage.begin < end
    ]
    return np.array(rows, np.float64).reshape(len(rows), 4)


def _by_task(task: Longs, values: Floats, n: int) -> Floats:
    """(n,) values by task, the last one of each; NaN for those without."""
    found = np.full(n, np.nan)
    found[task] = values
    return found


def _grants(
    at: Floats, task: Longs, cluster: Longs, offered: Floats, began: Floats, until: Floats
) -> Floats:
    """(K, 7) rows of the ledger: a run has its slots alone, by the decision of its round."""
    decision = np.searchsorted(at, offered, side="right") - 1.0
    share = np.ones(len(task))
    return np.column_stack([decision, began, until, task, cluster, share, until - began])


def work_between(
    at: Floats, end: float, began: Floats, until: Floats, cluster: Longs, slots: Floats, m: int
) -> Floats:
    """Busy slot-seconds of each cluster from each round to the next one.

    The work done by a time t is piecewise linear, with corners where runs begin and end.

    Args:
        at: (L,) begin of each round, ascending.
        end: When the last one ends.
        began: (K,) begin of each run.
        until: (K,) its end.
        cluster: (K,) its cluster.
        slots: (K,) its slots.
        m: Number of clusters.

    Returns:
        (L, m) slot-seconds.
    """
    marks = np.append(at, end)
    work = np.zeros((len(at), m))
    for i in range(m):
        mine = cluster == i
        if not mine.any():
            continue
        corners = np.concatenate([began[mine], until[mine]])
        change = np.concatenate([slots[mine], -slots[mine]])
        order = np.argsort(corners, kind="stable")
        corners, rate = corners[order], np.cumsum(change[order])
        done = np.concatenate([[0.0], np.cumsum(rate[:-1] * np.diff(corners))])
        work[:, i] = np.diff(np.interp(marks, corners, done))
    return work

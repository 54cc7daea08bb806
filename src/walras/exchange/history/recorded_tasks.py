"""An exchange's history as tasks on clusters with slots, which any policy can run anew.

Tasks come when they were submitted. Where one completed, it takes what was measured there, and ends
well as often as it did. Elsewhere it takes what was predicted when a round first listed it, longer
by the ratio of measured to predicted times. Clusters are away from the round that first saw them so
to the round that saw them return. Tasks that no round listed are unknown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from walras.errors import DataError
from walras.exchange.history.read import History, Recorded
from walras.exchange.history.replay import predict_of
from walras.rounds import Rules, prior
from walras.rounds.forecast import LEAST_SECONDS
from walras.simulate import Outage, Slots, TaskTrace
from walras.types import Bools, Floats, Longs


@dataclass(frozen=True, eq=False)
class RecordedTasks:
    """What a history says of tasks and clusters.

    Attributes:
        tasks: The tasks; time 0 is the first submission.
        slots: The clusters, with the rules of the last round.
        round_seconds: Least seconds between two rounds; 0 for fewer than two.
        measured: (N, M) where a task completed.
        completion: (N,) recorded seconds from its submission to its end; NaN where it has none.
        left_out: Tasks that can run on no cluster.
    """

    tasks: TaskTrace
    slots: Slots
    round_seconds: float
    measured: Bools
    completion: Floats
    left_out: int


def recorded_tasks(history: History) -> RecordedTasks:
    """The tasks and clusters of a history.

    Args:
        history: The rounds; at least one.

    Returns:
        Tasks and clusters.

    Raises:
        DataError: No task could run on any cluster.

    Example:
        >>> import walras as wl
        >>> from walras.exchange.history import History, Recorded, recorded_tasks
        >>> from walras.policies.placements import Policy
        >>> from walras.rounds import Clusters, Snapshot, Tasks, Tenants
        >>> snapshot = Snapshot.of(
        ...     Tasks.of(["a", "b"]), Clusters.of(["east"], slots=[1]), Tenants.of(["lab"])
        ... )
        >>> decision = wl.policies.first_fit()(snapshot)
        >>> first = Recorded(1, Policy(), 0, "prior", snapshot, decision)
        >>> found = recorded_tasks(History("one round", (first,), {}, {}))
        >>> found.tasks, found.slots
        (TaskTrace(2 tasks over 0 s, recorded: one round), Slots(1 east))
    """
    slots, first = _slots(history), _first_listings(history)
    names, ratio = slots.names, _ratio(history)
    table = _Outcomes(history, names)
    begin = min((one.submitted for one in first.values()), default=0.0)
    kept = [(key, one) for key, one in first.items() if _fits(one, slots)]
    if not kept:
        raise DataError(
            "holds no task that a cluster with slots can run",
            where=history.source,
            allowed="an exchange that has decided at least one round with tasks",
            remedy="let it place tasks first",
        )
    kept.sort(key=lambda pair: (pair[1].submitted, pair[0]))
    sets: dict[tuple[tuple[str, str], ...], int] = {(): 0}  # of labels -> their number
    requires = [sets.setdefault(tuple(sorted(one.labels.items())), len(sets)) for _, one in kept]
    predicted = np.array([[one.seconds[name] for name in names] for _, one in kept])
    chance = np.array([[one.chance[name] for name in names] for _, one in kept])
    measured, good = table.of([key for key, _ in kept])
    tasks = TaskTrace.of(
        [one.name for _, one in kept],
        tenant=tuple([one.tenant for _, one in kept]),
        size=[one.size for _, one in kept],
        arrival=[one.submitted - begin for _, one in kept],
        priority=[one.priority for _, one in kept],
        deadline=[max(one.deadline - begin, 0.0) for _, one in kept],
        min_success=[one.min_success for _, one in kept],
        requirements=tuple(dict(labels) for labels in sets),
        requires=requires,
        clusters=names,
        seconds=np.where(
            np.isnan(measured), np.maximum(ratio * predicted, LEAST_SECONDS), measured
        ),
        chance=np.where(np.isnan(good), chance, good),
        predicted_seconds=predicted,
        predicted_chance=chance,
        source=f"recorded: {history.source}",
    )
    gaps = np.diff([recorded.snapshot.at for recorded in history.rounds])
    length = float(gaps.min()) if len(gaps) else 0.0
    ends = np.array([table.end.get(key, np.nan) for key, _ in kept])
    return RecordedTasks(
        tasks=tasks,
        slots=_with_outages(slots, history, begin),
        round_seconds=length,
        measured=~np.isnan(measured),
        completion=ends - begin - tasks.arrival,
        left_out=len(first) - len(kept),
    )


@dataclass(frozen=True)
class _Listing:
    """A task as a round first listed it; predictions by cluster, infinite seconds where it is not
    wanted.
    """

    name: str
    tenant: str
    size: int
    submitted: float
    deadline: float
    priority: int
    min_success: float
    labels: Mapping[str, str]
    seconds: Mapping[str, float]
    chance: Mapping[str, float]


def _first_listings(history: History) -> dict[int, _Listing]:
    """Each task that a round listed, by its number."""
    names = tuple(dict.fromkeys(n for r in history.rounds for n in r.snapshot.clusters.uid))
    found: dict[int, _Listing] = {}
    for recorded in history.rounds:
        keys = recorded.snapshot.tasks.key
        new = np.flatnonzero([key not in found for key in keys.tolist()])
        if len(new):
            found |= _listings(history, recorded, new, names)
    return found


def _listings(
    history: History, recorded: Recorded, new: Longs, names: tuple[str, ...]
) -> dict[int, _Listing]:
    """The tasks at some places of a round."""
    snapshot = recorded.snapshot
    tasks, predict = snapshot.tasks, predict_of(history, recorded) or prior(snapshot.typical)
    seconds, chance = (np.empty((len(tasks), len(names))) for _ in range(2))
    for k in np.unique(tasks.feature_set[new]):
        mine = np.flatnonzero(tasks.feature_set == k)  # a row of the feature set each
        features = snapshot.features[k]
        forecast = predict(features.values, features.names, names)
        seconds[mine], chance[mine] = forecast.seconds.T, forecast.chance.T
    made = {}
    for j in new.tolist():
        pin = int(tasks.pin[j])
        wanted = names if pin < 0 else (snapshot.clusters.uid[pin],)
        times = [t if n in wanted else np.inf for n, t in zip(names, seconds[j], strict=True)]
        made[int(tasks.key[j])] = _Listing(
            name=tasks.uid[j],
            tenant=snapshot.tenants.name[tasks.tenant[j]],
            size=int(tasks.slots[j]),
            submitted=float(tasks.submitted[j]),
            deadline=float(tasks.deadline[j]),
            priority=int(tasks.priority[j]),
            min_success=float(tasks.min_success[j]),
            labels=snapshot.requirements[tasks.requires[j]],
            seconds=dict(zip(names, times, strict=True)),
            chance=dict(zip(names, chance[j].tolist(), strict=True)),
        )
    return made


def _fits(task: _Listing, slots: Slots) -> bool:
    return any(
        np.isfinite(task.seconds[name])
        and task.size <= count
        and task.labels.items() <= slots.labels[name].items()
        for name, count in slots.counts.items()
    )


def _ratio(history: History) -> float:
    """Measured by predicted seconds of the placements that completed; 1 for none."""
    predicted = measured = 0.0
    for recorded in history.rounds:
        snapshot, decision = recorded.snapshot, recorded.decision
        for j in np.flatnonzero(decision.placed).tolist():
            cluster = snapshot.clusters.key[decision.cluster[j]]
            known = history.outcomes.get((recorded.seq, int(snapshot.tasks.key[j]), int(cluster)))
            if known is not None and known.good:
                predicted += float(decision.seconds[j])
                measured += known.seconds
    return measured / predicted if measured > 0.0 and predicted > 0.0 else 1.0


@dataclass
class _Outcomes:
    """What runs came to, by task and cluster."""

    history: History
    names: tuple[str, ...]
    uid: dict[int, str] = field(init=False)
    end: dict[int, float] = field(init=False)

    def __post_init__(self) -> None:
        self.uid = {
            int(key): name
            for recorded in self.history.rounds
            for key, name in zip(
                recorded.snapshot.clusters.key.tolist(),
                recorded.snapshot.clusters.uid,
                strict=True,
            )
        }

        self.end = {t: o.ended for (_, t, _), o in self.history.outcomes.items() if o.good}

    def of(self, keys: list[int]) -> tuple[Floats, Floats]:
        """(N, M) mean seconds of runs that completed, and the share of runs that did; NaN where
        nothing is known.
        """
        row = {key: j for j, key in enumerate(keys)}
        column = {name: i for i, name in enumerate(self.names)}
        good, runs, total = (np.zeros((len(keys), len(self.names))) for _ in range(3))
        for (_, task, cluster), known in self.history.outcomes.items():
            at = row.get(task), column.get(self.uid.get(cluster, ""))
            if None not in at:
                runs[at] += 1
                good[at] += known.good
                total[at] += max(known.seconds, LEAST_SECONDS) if known.good else 0.0
        with np.errstate(invalid="ignore"):
            return total / good, good / runs


def _slots(history: History) -> Slots:
    """The clusters, with what the last round that saw each says of it, and the most slots."""
    counts: dict[str, int] = {}
    said: dict[str, dict[str, Any]] = {"labels": {}, "price": {}, "provider": {}}
    for recorded in history.rounds:
        clusters = recorded.snapshot.clusters
        for i, name in enumerate(clusters.uid):
            counts[name] = max(counts.get(name, 0), int(clusters.slots[i]))
            said["labels"][name] = clusters.labels[i]
            said["price"][name] = float(clusters.price[i])
            said["provider"].pop(name, None)
            if not clusters.trusted[i]:
                said["provider"][name] = clusters.provider[i]
    counts = {name: count for name, count in counts.items() if count}
    known: dict[str, Any] = {
        k: {n: v for n, v in table.items() if n in counts} for k, table in said.items()
    }
    tenants = {
        name: (float(weight), int(quota))
        for recorded in history.rounds
        for name, weight, quota in zip(
            recorded.snapshot.tenants.name,
            recorded.snapshot.tenants.weight,
            recorded.snapshot.tenants.quota,
            strict=True,
        )
    }
    if not counts:
        raise DataError(
            "holds no cluster with slots", where=history.source, allowed="at least one cluster"
        )
    rules: Rules = history.rounds[-1].policy.rules
    return Slots(
        counts,
        **known,
        weights={name: weight for name, (weight, _) in tenants.items()},
        quotas={name: quota for name, (_, quota) in tenants.items() if quota >= 0},
        rules=rules,
    )


def _with_outages(slots: Slots, history: History, begin: float) -> Slots:
    """The clusters, away where rounds saw them so; one that a round does not have is down."""
    states = [
        dict(zip(r.snapshot.clusters.uid, r.snapshot.clusters.state, strict=True))
        for r in history.rounds
    ]
    at = [max(r.snapshot.at - begin, 0.0) for r in history.rounds]
    made = []
    for name in slots.names:
        seen = [seen.get(name, "down") for seen in states]
        starts = [k for k in range(len(seen)) if k == 0 or seen[k] != seen[k - 1]]
        ends = [*(at[k] for k in starts[1:]), float("inf")]
        for k, end in zip(starts, ends, strict=True):
            first = at[k] if k else 0.0
            if seen[k] != "up" and end > first:
                made.append(Outage(name, first, end, seen[k]))
    return replace(slots, outages=made)

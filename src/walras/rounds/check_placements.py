"""The independent check of placements: it shares no code with who made them."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator

from walras.rounds.decision import Decision
from walras.rounds.snapshot import Snapshot
from walras.rounds.violation import Violation

_ROUNDING = 1e-9  # of sums of chances and of times


def check_placements(snapshot: Snapshot, decision: Decision) -> list[Violation]:
    """Everything that placements break."""
    found = list(_references(snapshot, decision))
    if found:
        return found
    plan = [(j, i) for j, i in enumerate(decision.cluster.tolist()) if i >= 0]
    for rule in (
        _pairs,
        _capacity,
        _quotas,
        _providers,
        _success,
        _figures,
        _explained,
    ):
        found += rule(snapshot, decision, plan)
    return found


Plan = list[tuple[int, int]]
"""Task and cluster of each task placed."""


def _references(snapshot: Snapshot, decision: Decision) -> Iterator[Violation]:
    """The decision is of this snapshot."""
    if decision.snapshot != snapshot.hash:
        yield Violation("reference", "snapshot", "the decision is of another snapshot")
    if decision.tasks != snapshot.tasks.uid or decision.clusters != snapshot.clusters.uid:
        yield Violation("reference", "names", "tasks or clusters are not the snapshot's")
    keys = snapshot.tasks.key.tolist()
    for key, times in Counter(keys).items():
        if times > 1:
            yield Violation("once", f"task number {key}", f"is listed {times} times")


def _pairs(snapshot: Snapshot, decision: Decision, plan: Plan) -> Iterator[Violation]:
    """Each task's cluster is up, has the labels, and is the one that it is pinned to."""
    tasks, clusters = snapshot.tasks, snapshot.clusters
    for j, i in plan:
        name = tasks.uid[j]
        if clusters.state[i] != "up":
            what = f"is {clusters.state[i]} and gets {name}"
            yield Violation("state", f"cluster {clusters.uid[i]}", what)
        has = clusters.labels[i]
        for label, value in snapshot.requirements[int(tasks.requires[j])].items():
            if has.get(label) != value:
                what = f"requires {label}={value}; {clusters.uid[i]} has {has.get(label)}"
                yield Violation("labels", f"task {name}", what)
        pin = int(tasks.pin[j])
        if pin >= 0 and pin != i:
            what = f"is pinned to {clusters.uid[pin]} and goes to {clusters.uid[i]}"
            yield Violation("pin", f"task {name}", what)


def _capacity(snapshot: Snapshot, decision: Decision, plan: Plan) -> Iterator[Violation]:
    """No cluster gets more slots of tasks than its free slots times the window."""
    filled: dict[int, int] = defaultdict(int)
    for j, i in plan:
        slots = int(snapshot.tasks.slots[j])
        filled[i] += slots
        if slots > snapshot.clusters.slots[i]:
            what = f"takes {slots} slots; {snapshot.clusters.uid[i]} has fewer"
            yield Violation("capacity", f"task {snapshot.tasks.uid[j]}", what)
    for i, slots in filled.items():
        most = 0
        if snapshot.clusters.state[i] == "up":
            free = sum(seconds == 0.0 for seconds in snapshot.clusters.ready_of(i).tolist())
            most = math.floor(snapshot.rules.window * free + _ROUNDING)
        if slots > most:
            what = f"{slots} slots are filled of {most}"
            yield Violation("capacity", f"cluster {snapshot.clusters.uid[i]}", what)


def _quotas(snapshot: Snapshot, decision: Decision, plan: Plan) -> Iterator[Violation]:
    """No tenant uses more slots than its quota."""
    tenants = snapshot.tenants
    taken: dict[int, int] = defaultdict(int)
    for j, _ in plan:
        taken[int(snapshot.tasks.tenant[j])] += int(snapshot.tasks.slots[j])
    for t, slots in taken.items():
        quota, used = int(tenants.quota[t]), int(tenants.in_use[t])
        if 0 <= quota < used + slots:
            what = f"{used} slots in use and {slots} more, of {quota}"
            yield Violation("quota", f"tenant {tenants.name[t]}", what)


def _providers(snapshot: Snapshot, decision: Decision, plan: Plan) -> Iterator[Violation]:
    """No provider gets more tasks than its confirmed work allows.

    The share v is that of the confirmed work of providers that are up; where none is confirmed, all
    have equal shares. Tasks on clusters that are trusted do not count.
    """
    clusters = snapshot.clusters
    work: dict[str, float] = defaultdict(float)
    up: set[str] = set()
    for i, provider in enumerate(clusters.provider):
        if clusters.state[i] == "up":
            up.add(provider)
            work[provider] += float(clusters.confirmed[i])
    total = math.fsum(work.values())
    got = Counter(clusters.provider[i] for _, i in plan if not clusters.trusted[i])
    for provider, count in got.items():
        if provider not in up:
            continue  # reported as the state of its cluster
        share = work[provider] / total if total > 0.0 else 1.0 / len(up)
        grown = (1.0 + snapshot.rules.kappa) * share * len(plan)
        most = math.ceil(grown - _ROUNDING * max(grown, 1.0)) + 1
        if count > most:
            what = f"{count} of {len(plan)} tasks, at most {most}"
            yield Violation("provider", f"provider {provider}", what)


def _success(snapshot: Snapshot, decision: Decision, plan: Plan) -> Iterator[Violation]:
    """Each task has its least chance of success, and the mean has its floor."""
    chances = decision.chance.tolist()
    for j, _ in plan:
        least = float(snapshot.tasks.min_success[j])
        if chances[j] < least:
            what = f"accepts {least:g} and has {chances[j]:.6g}"
            yield Violation("least success", f"task {snapshot.tasks.uid[j]}", what)
    if not plan:
        return
    mean, floor = math.fsum(chances[j] for j, _ in plan) / len(plan), snapshot.rules.min_success
    missing = max(floor - mean, 0.0)
    if decision.state == "ok" and missing > _ROUNDING:
        yield Violation("floor", "mean success", f"{mean:.9g} is below {floor:g}")
    if abs(decision.shortfall - missing) > _ROUNDING:
        what = f"states a shortfall of {decision.shortfall:.6g}; it is {missing:.6g}"
        yield Violation("figures", "mean success", what)


def _figures(snapshot: Snapshot, decision: Decision, plan: Plan) -> Iterator[Violation]:
    """Times, makespan, bound and propensities are what the plan gives."""
    seconds = decision.seconds.tolist()
    placed = {j for j, _ in plan}
    for j, uid in enumerate(snapshot.tasks.uid):
        good = 0.0 < seconds[j] < math.inf if j in placed else seconds[j] == 0.0
        if not good:
            yield Violation("figures", f"task {uid}", f"takes {seconds[j]:g} s")
        if j not in placed and decision.propensity[j] != 0.0:
            yield Violation("figures", f"task {uid}", "was drawn and not placed")
    longest = max((seconds[j] for j in placed), default=0.0)
    wrong = decision.makespan < longest * (1.0 - _ROUNDING)
    if snapshot.rules.window <= 1.0 and not wrong:  # all start at once
        wrong = not math.isclose(decision.makespan, longest, rel_tol=_ROUNDING)
    if wrong:
        what = f"states {decision.makespan:.9g} s; the longest task takes {longest:.9g} s"
        yield Violation("figures", "makespan", what)
    if decision.bound > decision.makespan * (1.0 + _ROUNDING):
        what = f"{decision.bound:.9g} s is above the makespan of {decision.makespan:.9g} s"
        yield Violation("figures", "bound", what)


def _explained(snapshot: Snapshot, decision: Decision, plan: Plan) -> Iterator[Violation]:
    """Every task that is not placed has a blocker, and none that is."""
    placed = {j for j, _ in plan}
    explained = set(decision.blockers.task.tolist())
    for j, uid in enumerate(snapshot.tasks.uid):
        if (j in placed) == (j in explained):
            what = "is placed and has blockers" if j in placed else "is not placed and has none"
            yield Violation("blockers", f"task {uid}", what)
    beyond = explained - set(range(len(snapshot.tasks.uid)))
    if beyond:
        yield Violation("blockers", f"task number {min(beyond)}", "is not in the snapshot")

"""The compiled rounds against a plain statement of the mechanism."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.simulate.small import equal_pairs, equal_shares, paired_trace, random_trace

from walras import policies
from walras.rounds import JobsSnapshot, Shares
from walras.simulate import Cluster, Trace, run
from walras.simulate.time_shared import Policy, World
from walras.types import Floats

CLUSTER = Cluster({"a": 4, "b": 5, "c": 3})
ROUND, WAIT = 360.0, 1920.0

_Unit = tuple[int, ...]
_Account = tuple[list[float], list[float], list[float]]  # share, seconds had, seconds owed, by type


def _plain(trace: Trace, cluster: Cluster, policy: Policy) -> tuple[list[float], list[list[float]]]:
    """Ends and seconds by type, one job and one type at a time."""
    n, types = len(trace), range(len(cluster.types))
    world = World.start(trace, cluster, np.ones(n, bool), ROUND, WAIT, 0)
    speed, left = trace.on(cluster), trace.steps.tolist()
    units: dict[_Unit, _Account] = {}
    total = [[0.0] * len(types) for _ in range(n)]
    given = [0.0] * len(types)
    ends = [np.nan] * n
    here: list[int] = []
    known: set[int] = set()
    now, last, changed, spare, coming = 0.0, -np.inf, False, True, 0
    while coming < n or here:
        if not here:
            now = max(now, trace.arrival[coming])
        while coming < n and trace.arrival[coming] <= now:
            here.append(coming)
            coming, changed = coming + 1, True
        if changed and now - last >= WAIT:
            world.state.active[: len(here)], world.state.counts[1] = here, len(here)
            world.state.clock[0], world.state.left[:] = now, left
            found = policy(world.snapshot())
            world.last = found
            since = now - last if np.isfinite(last) else 0.0
            units = _settled(units, found, here, since)
            given = [ROUND / 2 * len(units)] * len(types)
            last, changed, spare, known = now, False, found.spare, known | set(here)
        placed: dict[int, tuple[int, _Unit]] = {}
        for t in types:
            free = int(cluster.workers[t])
            queue = []
            for unit, (share, had, owed) in units.items():
                runs = all(j in here and j not in placed for j in unit)
                if runs and _pace(trace, unit, t, speed) and (share[t] or spare * (len(unit) == 1)):
                    priority = share[t] * given[t] / (ROUND / 2 + had[t])
                    queue.append((-priority, -owed[t], -share[t], len(unit), unit))
            for *_, unit in sorted(queue):
                if trace.size[unit[0]] <= free and not any(j in placed for j in unit):
                    placed |= {j: (t, unit) for j in unit}
                    free -= int(trace.size[unit[0]])
        ran: dict[_Unit, float] = {}
        for j in sorted(placed):
            t, unit = placed[j]
            pace = _pace(trace, unit, t, speed)[unit.index(j)]
            done = min(np.floor(pace * ROUND), left[j])
            left[j] -= done
            total[j][t] += done / pace
            ran[unit] = max(ran.get(unit, 0.0), done / pace)
            if left[j] <= 0:
                ends[j], changed = now + done / pace, True
        for unit in sorted(ran, key=lambda unit: (len(unit), unit)):
            t = placed[unit[0]][0]
            units[unit][1][t] += ran[unit]
            given[t] += ran[unit]
        here = [j for j in here if left[j] > 0]
        now += ROUND
    return ends, total


def _settled(
    units: dict[_Unit, _Account], found: Shares, here: list[int], since: float
) -> dict[_Unit, _Account]:
    """Accounts under new shares: what units that were there before are owed stays."""
    granted: dict[_Unit, list[float]] = {(j,): found.time[k].tolist() for k, j in enumerate(here)}
    for (one, other), time in zip(found.pair.tolist(), found.pair_time.tolist(), strict=True):
        granted[here[one], here[other]] = time
    types = range(found.time.shape[1])
    made = {}
    for unit, share in granted.items():
        old, had, owed = units.get(unit, ([0.0] * len(types),) * 3)
        made[unit] = (
            share,
            [0.0 for _ in types],
            [owed[t] + (old[t] * since - had[t]) for t in types],
        )
    return made


def _pace(trace: Trace, unit: _Unit, t: int, speed: Floats) -> tuple[float, ...]:
    """Steps a second of the jobs of a unit; empty where they cannot run."""
    if len(unit) == 1:
        both: tuple[float, ...] = (speed[unit[0], t],)
    else:
        one, other = (trace.group[j] for j in unit)
        both = (trace.paired[one, other, t], trace.paired[other, one, t])
    return both if min(both) > 0 and all(speed[j, t] > 0 for j in unit) else ()


def uneven(snapshot: JobsSnapshot) -> Shares:
    """Shares by weight, so that priorities differ, and time is left over."""
    given = equal_shares(snapshot).time * snapshot.weight[:, None] / 2
    return snapshot.shares(given, policy="uneven")


@pytest.mark.parametrize("policy", [uneven, equal_shares, policies.fifo()])
@pytest.mark.parametrize("seed", range(4))
def test_rounds_follow_the_mechanism(policy: Policy, seed: int) -> None:
    trace = random_trace(seed, n=40)
    trace = Trace.of(
        trace.name,
        **{k: getattr(trace, k) for k in ("kind", "size", "weight", "types", "speed")},
        steps=trace.steps,
        arrival=trace.arrival / 4,
    )
    done = run(trace, CLUSTER, policy)
    ends, total = _plain(trace, CLUSTER, policy)
    assert done.ended.tolist() == ends
    assert done.received.tolist() == total


@pytest.mark.parametrize("seed", range(4))
def test_pairs_follow_the_mechanism(seed: int) -> None:
    trace = paired_trace(seed, n=24)
    trace = replace(trace, arrival=trace.arrival / 4)
    done = run(trace, CLUSTER, equal_pairs)
    ends, total = _plain(trace, CLUSTER, equal_pairs)
    assert done.shared.any()
    np.testing.assert_allclose(done.ended, ends, rtol=1e-12)
    np.testing.assert_allclose(done.received, total, rtol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_many_jobs_for_few_workers_follow_the_mechanism(seed: int) -> None:
    """So many that only those of highest priority are put in order."""
    trace = random_trace(seed, n=60)
    trace = replace(trace, arrival=trace.arrival / 100, size=np.minimum(trace.size, 2))
    few = Cluster({"a": 2, "b": 3, "c": 1 + seed})
    done = run(trace, few, uneven)
    ends, total = _plain(trace, few, uneven)
    assert done.ended.tolist() == ends
    assert done.received.tolist() == total

"""The compiled rounds against a plain statement of the mechanism."""

from __future__ import annotations

import numpy as np
import pytest
from tests.simulate.small import equal_shares, random_trace

from walras import policies
from walras.rounds import JobsSnapshot, Shares
from walras.simulate import Cluster, Trace, run
from walras.simulate.time_shared import Policy, World

CLUSTER = Cluster({"a": 4, "b": 5, "c": 3})
ROUND, WAIT = 360.0, 1920.0


def _plain(trace: Trace, cluster: Cluster, policy: Policy) -> tuple[list[float], list[list[float]]]:
    """Ends and seconds by type, one job and one type at a time."""
    n, types = len(trace), range(len(cluster.types))
    world = World.start(trace, cluster, np.ones(n, bool), ROUND, WAIT, 0)
    speed, left = trace.on(cluster), trace.steps.tolist()
    share = {j: [0.0] * len(types) for j in range(n)}
    had, owed = ({j: [0.0] * len(types) for j in range(n)} for _ in range(2))
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
            for k, j in enumerate(here):
                since = now - last if np.isfinite(last) else 0.0
                for t in types:
                    owed[j][t] += share[j][t] * since - had[j][t]
                share[j], had[j] = found.time[k].tolist(), [0.0] * len(types)
            given = [ROUND / 2 * len(here)] * len(types)
            last, changed, spare, known = now, False, found.spare, known | set(here)
        placed = {}
        for t in types:
            free = int(cluster.workers[t])
            queue = [
                (-share[j][t] * given[t] / (ROUND / 2 + had[j][t]), -owed[j][t], -share[j][t], j)
                for j in here
                if j in known and j not in placed and speed[j, t] > 0 and (spare or share[j][t])
            ]
            for *_, j in sorted(queue):
                if trace.size[j] <= free:
                    placed[j], free = t, free - int(trace.size[j])
        for j in sorted(placed):
            t = placed[j]
            done = min(np.floor(speed[j, t] * ROUND), left[j])
            left[j] -= done
            for count in (had[j], total[j], given):
                count[t] += done / speed[j, t]
            if left[j] <= 0:
                ends[j], changed = now + done / speed[j, t], True
        here = [j for j in here if left[j] > 0]
        now += ROUND
    return ends, total


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

"""Worlds drawn at random: tasks, clusters that fail and drain, and a policy for them."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

import walras as wl
from walras.rounds import Rules
from walras.simulate import Outage, Slots, TaskTrace

STATES = ("down", "draining", "cordoned")


@st.composite
def worlds(draw: Any) -> tuple[TaskTrace, Slots, str, float]:
    """Tasks, clusters, the name of a policy, and the length of a round."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, m = draw(st.integers(1, 12)), draw(st.integers(1, 3))
    names = tuple(f"c{i}" for i in range(m))
    counts = rng.integers(2, 5, m)
    seconds = rng.uniform(1.0, 100.0, (n, m))
    seconds[rng.random((n, m)) < 0.2] = np.inf
    seconds[:, 0] = np.where(np.isinf(seconds).all(axis=1), 7.0, seconds[:, 0])
    arrival = np.sort(rng.uniform(0.0, 200.0, n))
    late = rng.random(n) < 0.3
    tasks = TaskTrace.of(
        [f"t{j}" for j in range(n)],
        tenant=tuple(f"u{k}" for k in rng.integers(2, size=n)),
        size=rng.integers(1, 3, n),
        arrival=arrival,
        priority=rng.integers(0, 2, n),
        deadline=np.where(late, arrival + rng.uniform(0.0, 60.0, n), np.inf),
        max_attempts=rng.integers(1, 4, n),
        clusters=names,
        seconds=seconds,
        chance=rng.uniform(0.4, 1.0, (n, m)),
    )
    outages = [
        Outage(name, begin := rng.uniform(0.0, 150.0), begin + rng.uniform(1.0, 100.0), state)
        for name, state in zip(names, rng.choice(STATES, m), strict=True)
        if rng.random() < 0.7
    ]
    slots = Slots(
        dict(zip(names, counts.tolist(), strict=True)),
        quotas={"u0": 3} if rng.random() < 0.3 else {},
        provider={"c0": "lab"} if rng.random() < 0.3 else {},
        rules=Rules(min_success=0.5, window=float(rng.choice([1.0, 2.0]))),
        outages=outages,
        listed=int(rng.choice([1, 500])),
    )
    length = float(rng.choice([0.0, 10.0]))
    return tasks, slots, str(rng.choice(["first_fit", "best_fit", "fastest_cluster"])), length


def run_of(world: tuple[TaskTrace, Slots, str, float], seed: int = 0) -> wl.simulate.PlacedRun:
    """The run of a drawn world."""
    tasks, slots, policy, length = world
    chosen = getattr(wl.policies, policy)(predict=tasks.predict)
    return wl.simulate.run(tasks, slots, chosen, round_seconds=length, seed=seed)

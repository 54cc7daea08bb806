"""Rounds for the tests, and the least number of moves by trying everything."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import strategies as st
from scipy.optimize import linprog

from walras.domains import load_balancing as lb


def drawn_round(
    seed: int, servers: int, shards: int, *, band: float = 0.1, memory: float | None = None
) -> lb.Round:
    """Shards of heavy-tailed loads, each on a random server; some split over two."""
    random = np.random.default_rng(seed)
    load = np.round(random.pareto(1.5, shards) + 0.1, 3)
    placed = np.zeros((servers, shards))
    placed[random.integers(servers, size=shards), np.arange(shards)] = 1.0
    for j in np.flatnonzero(random.random(shards) < 0.25).tolist():
        placed[random.integers(servers), j] = 1.0
    room = 3.0 * shards / servers + 2.0 if memory is None else memory
    return lb.make_round(load, placed, band=band, memory=room)


def least_moves(problem: lb.Round, most: int) -> int | None:
    """The fewest new replicas, by trying every set of up to ``most`` new pairs; None if none do.

    Replicas may only be taken away for memory; the tests that use this give enough of it.
    """
    held = problem.held.copy()
    held[problem.drain] = False
    free = np.argwhere(~held & ~problem.drain[:, None])
    for count in range(most + 1):
        for chosen in combinations(range(len(free)), count):
            placed = held.copy()
            for k in chosen:
                placed[tuple(free[k])] = True
            if can_be_split(problem, placed):
                return count
    return None


def can_be_split(problem: lb.Round, placed: np.ndarray) -> bool:
    """Whether the loads fit the band over these replicas, by SciPy's linear programming."""
    server, shard = np.nonzero(placed)
    if len(np.unique(shard)) < problem.shards:
        return False
    rows = np.zeros((problem.servers, len(server)))
    rows[server, np.arange(len(server))] = problem.load[shard]
    whole = np.zeros((problem.shards, len(server)))
    whole[shard, np.arange(len(server))] = 1.0
    found = linprog(
        np.zeros(len(server)),
        np.vstack([rows, -rows]),
        np.concatenate([problem.upper, -problem.lower]),
        whole,
        np.ones(problem.shards),
        method="highs",
    )
    return bool(found.status == 0)


@st.composite
def rounds(draw: st.DrawFn) -> lb.Round:
    """Rounds of up to 12 servers and 60 shards, with weights and a server that drains at times."""
    servers = draw(st.integers(2, 12))
    shards = draw(st.integers(servers, 60))
    seed = draw(st.integers(0, 10_000))
    band = draw(st.sampled_from([0.05, 0.1, 0.3]))
    base = drawn_round(seed, servers, shards, band=band)
    if draw(st.booleans()):
        return base
    placed = base.held.astype(np.float64)
    weight = np.random.default_rng(seed).uniform(0.5, 2.0, servers)
    return lb.make_round(
        base.load,
        placed,
        band=band,
        memory=base.memory + shards,
        weight=weight,
        drain=[0] if draw(st.booleans()) else [],
    )

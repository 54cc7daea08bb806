"""A cluster, and a ring of flows of which few are most."""

from __future__ import annotations

import numpy as np

from walras.domains import traffic_engineering as te
from walras.settings import Settings


def cluster(seed: int, jobs: int = 24, resources: int = 4) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(seed)
    T = rng.lognormal(0, 1, (resources, jobs)) * (rng.random((resources, jobs)) < 0.8)
    T[0, ~(T > 0).any(axis=0)] = 1
    return T, rng.choice([1.0, 2.0], jobs), rng.choice([2.0, 4.0], resources)


def wide(seed: int = 4) -> tuple[te.Network, np.ndarray, te.Paths]:
    """A ring of 30 nodes with chords, and traffic of which few demands are most."""
    rng = np.random.default_rng(seed)
    ends = {(v, (v + 1) % 30) for v in range(30)}
    ends |= {(int(a), int(b)) for a, b in rng.integers(0, 30, (60, 2)) if a != b}
    source, target = np.array(sorted(ends)).T
    net = te.Network(
        tuple(map(str, range(30))), source, target, rng.uniform(10.0, 100.0, len(source))
    )
    demand = te.lognormal_traffic(net, seed=seed, total=0.15 * float(net.capacity.sum()))
    return net, demand, te.candidate_paths(net, cache=False)


CALM = Settings(threads=2)

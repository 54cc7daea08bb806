"""Small networks: random ones, and toys with optima in closed form."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from walras.domains import traffic_engineering as te


@dataclass(frozen=True)
class Case:
    net: te.Network
    demand: np.ndarray
    paths: te.Paths


def network(
    ends: list[tuple[int, int]], capacity: list[float] | float, nodes: int = 0
) -> te.Network:
    s, t = np.array(ends).T
    n = nodes or int(max(s.max(), t.max())) + 1
    c = np.broadcast_to(np.asarray(capacity, dtype=float), len(s))
    return te.Network(
        tuple(f"n{v}" for v in range(n)), s.astype(np.int32), t.astype(np.int32), c, name="toy"
    )


def matrix(nodes: int, demands: dict[tuple[int, int], float]) -> np.ndarray:
    out = np.zeros((nodes, nodes))
    for pair, value in demands.items():
        out[pair] = value
    return out


def random_case(seed: int, most: int = 7, scale: float = 1.0) -> Case:
    """A random strongly connected network with demand between about half of its pairs."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, most))
    ring = {(v, (v + 1) % n) for v in range(n)}
    more = {(int(a), int(b)) for a, b in rng.integers(0, n, (2 * n, 2)) if a != b}
    ends = sorted(ring | more)
    net = network(ends, list(rng.uniform(1.0, 10.0, len(ends))))
    demand = rng.lognormal(0.0, 1.0, (n, n)) * (rng.random((n, n)) < 0.6) * scale
    np.fill_diagonal(demand, 0.0)
    demand[0, 1] = 1.0
    paths = te.candidate_paths(
        net, k=3, kind="shortest" if seed % 2 else "edge-disjoint", cache=False
    )
    return Case(net, demand, paths)


def diamond(capacity: tuple[float, float, float, float] = (3.0, 3.0, 2.0, 2.0)) -> Case:
    """0 -> 1 -> 3 and 0 -> 2 -> 3, one demand of 4 over both."""
    net = network([(0, 1), (1, 3), (0, 2), (2, 3)], list(capacity))
    return Case(net, matrix(4, {(0, 3): 4.0}), te.candidate_paths(net, cache=False))

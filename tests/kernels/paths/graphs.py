"""Random graphs, and what a path search finds in them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from hypothesis import strategies as st

from walras.kernels.paths import disjoint as kernels

SEEDS = st.integers(0, 100_000)


Paths = dict[int, list[list[int]]]


def graph(seed: int, most: int = 9) -> tuple[int, np.ndarray, np.ndarray]:
    """Nodes and the ends of random distinct links."""
    rng = np.random.default_rng(seed)
    nodes = int(rng.integers(2, most))
    ends = np.argwhere(
        (rng.random((nodes, nodes)) < rng.uniform(0.15, 0.8)) & ~np.eye(nodes, dtype=bool)
    )
    if not len(ends):
        ends = np.array([[0, 1]])
    rng.shuffle(ends)
    return nodes, ends[:, 0].astype(np.int32), ends[:, 1].astype(np.int32)


def found(search: Callable[..., Any], seed: int, source: int, k: int) -> Paths:
    """The links of each path by target."""
    nodes, s, t = graph(seed)
    links = kernels.make_graph(nodes, s, t)
    work = kernels.make_work(nodes, len(s))
    for _ in range(2):  # scratch space must come back clean
        count, hops, taken = search(links, work, source, k)
    out: Paths = {}
    at = path = 0
    for target in range(nodes):
        out[target] = []
        for _ in range(count[target]):
            out[target].append(taken[at : at + hops[path]].tolist())
            at, path = at + hops[path], path + 1
    assert at == len(taken)
    return out


def walks(seed: int, source: int, target: int, paths: list[list[int]]) -> list[list[int]]:
    """Nodes of each path, checked to be simple, from the source to the target, along links."""
    _, s, t = graph(seed)
    out = []
    for path in paths:
        assert all(t[a] == s[b] for a, b in pairwise(path))
        nodes = [int(s[path[0]]), *(int(t[e]) for e in path)]
        assert (nodes[0], nodes[-1]) == (source, target)
        assert len(set(nodes)) == len(nodes)
        out.append(nodes)
    assert [len(w) for w in out] == sorted(len(w) for w in out)
    return out


def all_simple_hops(seed: int, source: int, target: int, most: int) -> list[int]:
    """Hops of the first simple paths of all, ascending: walks grow by one link a round."""
    nodes, s, t = graph(seed)
    after = {v: t[s == v].tolist() for v in range(nodes)}
    out: list[int] = []
    queue = deque([[source]])
    while queue and len(out) < most:
        walk = queue.popleft()
        if walk[-1] == target:
            out.append(len(walk) - 1)
            continue
        queue.extend([*walk, v] for v in after[walk[-1]] if v not in walk)
    return out

"""Path search against plain definitions: maximum flow, enumeration, breadth-first search."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.sparse import csgraph

from walras.kernels.paths import disjoint as kernels
from walras.kernels.paths.arrays import path_columns, path_keys
from walras.kernels.paths.simple import shortest_from

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


@settings(max_examples=120)
@given(seed=SEEDS, k=st.integers(1, 5))
def test_disjoint_paths_are_as_many_and_as_short_as_a_minimum_cost_flow(seed: int, k: int) -> None:
    nodes, s, t = graph(seed)
    paths = found(kernels.disjoint_from, seed, 0, k)
    one = np.ones(len(s), dtype=np.int32)
    capacity = sp.csr_array((one, (s, t)), shape=(nodes, nodes))
    incidence = np.zeros((nodes, len(s)))
    incidence[s, np.arange(len(s))] += 1
    incidence[t, np.arange(len(s))] -= 1
    for target in range(1, nodes):
        walks(seed, 0, target, paths[target])
        used = [e for path in paths[target] for e in path]
        assert len(set(used)) == len(used)
        most = csgraph.maximum_flow(capacity, 0, target).flow_value
        assert len(paths[target]) == min(k, most)
        wanted = np.zeros(nodes)
        wanted[0], wanted[target] = len(paths[target]), -len(paths[target])
        least = linprog(np.ones(len(s)), A_eq=incidence, b_eq=wanted, bounds=(0, 1))
        assert len(used) == pytest.approx(least.fun, abs=1e-6)


@settings(max_examples=200)
@given(seed=SEEDS, k=st.integers(1, 8))
def test_shortest_paths_are_the_first_of_all_simple_ones(seed: int, k: int) -> None:
    nodes, _, _ = graph(seed)
    paths = found(shortest_from, seed, 0, k)
    for target in range(1, nodes):
        nodes_of = walks(seed, 0, target, paths[target])
        assert len({tuple(walk) for walk in nodes_of}) == len(nodes_of)
        hops = [len(path) for path in paths[target]]
        assert hops == all_simple_hops(seed, 0, target, k)


def test_an_empty_place_is_not_taken_for_the_worst_deviation() -> None:
    ends = [(1, 2), (1, 3), (1, 4), (2, 0), (2, 4), (3, 0), (4, 0)]
    s, t = np.array(ends, dtype=np.int32).T
    links, work = kernels.make_graph(5, s, t), kernels.make_work(5, len(s))
    count, hops, _ = shortest_from(links, work, 1, 3)
    assert hops[: count[0]].tolist() == [2, 2, 2]


def test_a_trap_is_not_fallen_into() -> None:
    # The shortest path 0-1-2-3 crosses both disjoint ones, 0-1-5-3 and 0-4-2-3.
    ends = [(0, 1), (1, 2), (2, 3), (0, 4), (4, 2), (1, 5), (5, 3), (4, 6), (6, 7), (7, 5)]
    s, t = np.array(ends, dtype=np.int32).T
    links, work = kernels.make_graph(8, s, t), kernels.make_work(8, len(s))
    count, hops, taken = kernels.disjoint_from(links, work, 0, 4)
    begin = int(hops[: count[:3].sum()].sum())
    assert count[3] == 2
    assert sorted(taken[begin : begin + 6].tolist()) == [0, 2, 3, 4, 5, 6]


def test_keys_tell_paths_apart_by_their_nodes() -> None:
    source = np.array([0, 1, 0, 2, 0, 1], dtype=np.int32)
    pointer = np.array([0, 2, 4, 6])
    last = np.array([3, 3, 3], dtype=np.int32)
    keys = path_keys(pointer, source, last)
    assert keys[0] == keys[2] != keys[1]
    assert path_keys(pointer, source, last + np.int32(1))[0] != keys[0]


@given(seed=SEEDS)
def test_columns_hold_the_links_in_order(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 6, int(rng.integers(1, 6)))
    pointer = np.concatenate([[0], np.cumsum(sizes)])
    links = np.concatenate([rng.permutation(9)[:size] for size in sizes]).astype(np.int32)
    indptr = (pointer + 2 * np.arange(len(pointer))).astype(np.int32)
    indices = np.full(indptr[-1], -1, dtype=np.int32)
    path_columns(pointer, links, indptr, indices)
    for p, size in enumerate(sizes):
        column = indices[indptr[p] : indptr[p + 1]].tolist()
        assert column == [*sorted(links[pointer[p] : pointer[p + 1]].tolist()), -1, -1]
        assert len(column) == size + 2

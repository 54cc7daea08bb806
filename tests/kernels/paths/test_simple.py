"""Shortest simple paths against breadth-first enumeration."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kernels.paths.graphs import SEEDS, all_simple_hops, found, graph, walks

from walras.kernels.paths import disjoint as kernels
from walras.kernels.paths.simple import shortest_from


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

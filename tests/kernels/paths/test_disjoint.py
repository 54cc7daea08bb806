"""Disjoint paths against maximum flows and minimum-cost flows."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.sparse import csgraph
from tests.kernels.paths.graphs import SEEDS, found, graph, walks

from walras.kernels.paths import disjoint as kernels


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


def test_a_trap_is_not_fallen_into() -> None:
    # The shortest path 0-1-2-3 crosses both disjoint ones, 0-1-5-3 and 0-4-2-3.
    ends = [(0, 1), (1, 2), (2, 3), (0, 4), (4, 2), (1, 5), (5, 3), (4, 6), (6, 7), (7, 5)]
    s, t = np.array(ends, dtype=np.int32).T
    links, work = kernels.make_graph(8, s, t), kernels.make_work(8, len(s))
    count, hops, taken = kernels.disjoint_from(links, work, 0, 4)
    begin = int(hops[: count[:3].sum()].sum())
    assert count[3] == 2
    assert sorted(taken[begin : begin + 6].tolist()) == [0, 2, 3, 4, 5, 6]

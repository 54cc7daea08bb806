"""Chains at fixed prices: assignments within the capacities, costs that hold, likely entries."""

from __future__ import annotations

import numpy as np
import pytest
from tests.engines.integer.assignments import every_assignment, stated

from walras.engines.integer.chain_search import ChainSearch, likely
from walras.engines.integer.options import AssignmentSearch


@pytest.mark.parametrize("kind", ["C", "D", "E"])
def test_chains_from_an_overloaded_agent_reach_the_optimum(kind: str) -> None:
    tasks = stated(kind, 3, 6, 7)
    least = every_assignment(tasks)[1].min()
    first, price = np.zeros(6, dtype=np.int32), np.full(3, 0.1)
    search = ChainSearch(tasks, price, first, AssignmentSearch(cycle=8), 0, 2)
    best, cost = first.copy(), np.inf
    for _ in range(40):
        cost = search.step(best, cost, 50)
    every = np.arange(6)
    assert cost == pytest.approx(tasks.cost[every, best].sum())
    assert np.all(np.bincount(best, tasks.weight[every, best], 3) <= tasks.capacity)
    assert cost == pytest.approx(least)


def test_likely_entries_are_the_cheapest() -> None:
    reduced = np.array([[0.0, 3.0, 1.0], [2.0, 0.0, 5.0]])
    assert likely(reduced, 1).tolist() == [[True, False, False], [False, True, False]]
    assert likely(reduced, 9).all()

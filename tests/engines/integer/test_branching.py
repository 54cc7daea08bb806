"""HiGHS on some entries of an assignment, held against every assignment there is."""

from __future__ import annotations

import numpy as np
import pytest
from tests.engines.integer.assignments import every_assignment, stated

from walras.engines.integer.branching import branch, reassigned
from walras.settings import Settings


@pytest.mark.parametrize("kind", ["C", "D", "E"])
def test_branching_on_all_entries_finds_the_optimum(kind: str) -> None:
    tasks = stated(kind, 3, 6, 7)
    fits, cost = every_assignment(tasks)
    keep = np.ones(tasks.cost.shape, dtype=bool)
    found = branch(tasks, keep, None, Settings(1e-9, 20.0))
    assert found.agent is not None
    assert tasks.cost[np.arange(6), found.agent].sum() == pytest.approx(cost.min())
    assert found.bound <= cost.min() + 1e-6
    start = fits[np.argmax(cost)].astype(np.int32)
    alone = branch(tasks, np.zeros_like(keep), start, Settings(1e-9, 20.0))
    assert np.array_equal(alone.agent, start)  # type: ignore[arg-type]


def test_dealing_out_again_keeps_to_the_agents_chosen_and_never_costs_more() -> None:
    tasks = stated("E", 6, 40, 3)
    keep = np.ones(tasks.cost.shape, dtype=bool)
    start = branch(tasks, keep, None, Settings(0.2, 5.0)).agent
    assert start is not None
    chosen = np.array([1, 2, 4], dtype=np.int32)
    found = reassigned(tasks, keep, start, chosen, Settings(1e-9, 2.0))
    others = ~np.isin(start, chosen)
    assert np.array_equal(found[others], start[others])
    assert np.all(np.isin(found[~others], chosen))
    every = np.arange(40)
    assert tasks.cost[every, found].sum() <= tasks.cost[every, start].sum()
    assert np.all(np.bincount(found, tasks.weight[every, found], 6) <= tasks.capacity + 1e-9)

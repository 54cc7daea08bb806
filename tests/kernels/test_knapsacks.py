"""The relaxation by knapsacks: its value by trying every set, its bounds by every assignment."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from tests.bank.whole import drawn_assignment

from walras.kernels import knapsacks as kernel


def best_knapsack(profit: np.ndarray, size: np.ndarray, room: int) -> float:
    """The best profit of one agent, by trying every set."""
    sets = np.array(list(product((0, 1), repeat=len(profit))))
    return float(np.max((sets @ profit)[sets @ size <= room]))


@pytest.mark.parametrize("kind", ["C", "D", "E"])
def test_the_relaxation_is_that_of_its_definition(kind: str) -> None:
    cost, weight, capacity = drawn_assignment(kind, 3, 8, 5)
    size, room = weight.T.astype(np.int32), capacity.astype(np.int32)
    entries, agent = kernel.make_entries(cost.T, size, room, np.ones((8, 3), dtype=bool))
    price = np.random.default_rng(1).uniform(cost.min(), cost.max(), 8)
    taken, count = np.zeros(24, dtype=np.int32), np.zeros(8, dtype=np.int32)
    found = kernel.relaxed(entries, price, taken, count)
    plain = price.sum() - sum(
        best_knapsack(price - cost[i], weight[i], int(room[i])) for i in range(3)
    )
    assert found == pytest.approx(plain)
    assert np.array_equal(np.bincount(entries.task, taken, 8), count)
    used = np.bincount(agent, taken * entries.size, 3)
    assert np.all(used <= room)
    gained = np.sum(taken * (price[entries.task] - entries.cost))
    assert found == pytest.approx(price.sum() - gained)


def test_entries_that_are_left_out_are_not_used() -> None:
    cost, size = np.array([[1.0, 9.0], [1.0, 9.0]]), np.ones((2, 2), dtype=np.int32)
    keep = np.array([[False, True], [True, True]])
    entries, agent = kernel.make_entries(cost, size, np.array([2, 2], dtype=np.int32), keep)
    assert sorted(zip(entries.task.tolist(), agent.tolist(), strict=True)) == [
        (0, 1),
        (1, 0),
        (1, 1),
    ]
    ascent = kernel.make_ascent(np.zeros(2), 3)
    while kernel.climb(entries, ascent, 10.0, 10):
        pass
    assert ascent.state[0] == pytest.approx(10.0)  # task 0 at 9, task 1 at 1


@pytest.mark.parametrize("kind", ["C", "D", "E"])
@pytest.mark.parametrize("slack", [0.0, 3.0, 20.0])
def test_all_fillings_near_the_best_are_listed_once(kind: str, slack: float) -> None:
    cost, weight, capacity = drawn_assignment(kind, 3, 8, 5)
    size, room = weight.T.astype(np.int32), capacity.astype(np.int32)
    keep = np.random.default_rng(2).random((8, 3)) < 0.9
    entries, agent = kernel.make_entries(cost.T, size, room, keep)
    price = np.random.default_rng(1).uniform(cost.min(), cost.max(), 8)
    wanted = []
    for i in range(3):
        own = np.flatnonzero(keep[:, i])
        sets = np.array(list(product((False, True), repeat=len(own))))
        sets = sets[sets @ size[own, i] <= room[i]]
        profit = sets @ (price - cost[i])[own]
        near = sets[profit >= profit.max() - slack - 1e-9]
        wanted += [(i, tuple(own[some].tolist())) for some in near if some.any()]
    first, chosen = np.zeros(len(wanted) + 1, dtype=np.int32), np.zeros(10_000, dtype=np.int32)
    count = kernel.near_best(entries, price, slack + 1e-9, first, chosen)
    parts = [chosen[first[k] : first[k + 1]] for k in range(count)]
    found = [(int(agent[part[0]]), tuple(sorted(entries.task[part].tolist()))) for part in parts]
    assert sorted(found) == sorted(wanted)
    if wanted:
        assert kernel.near_best(entries, price, slack + 1e-9, first[:-1], chosen) == -1
        assert kernel.near_best(entries, price, slack + 1e-9, first, chosen[:1]) == -1

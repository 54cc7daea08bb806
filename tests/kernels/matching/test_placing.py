"""Placing on slots: against enumeration, with groups, and what paths may not do."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from walras.kernels.matching.placing import cheapest, insert


def _drawn(seed: int) -> tuple[Any, ...]:
    """Costs, room, groups and their caps of a small problem of tasks of one slot."""
    rng = np.random.default_rng(seed)
    n, m, groups = int(rng.integers(1, 6)), int(rng.integers(1, 5)), int(rng.integers(0, 3))
    cost = rng.random((n, m)).round(2)
    cost[rng.random((n, m)) < 0.3] = np.inf
    room = rng.integers(0, 4, m)
    group = rng.integers(-1, groups, m) if groups else np.full(m, -1)
    return cost, room, group, rng.integers(0, 4, groups)


def _fits(x: np.ndarray, size: np.ndarray, room: Any, group: Any, cap: Any) -> bool:
    placed = x >= 0
    fill = np.bincount(x[placed], size[placed], len(room))
    groups = group[x[placed]]
    count = np.bincount(groups[groups >= 0], minlength=len(cap))
    return bool((fill <= room).all() and (count <= cap).all())


def _enumerated(cost: np.ndarray, room: Any, group: Any, cap: Any) -> tuple[int, float]:
    """Most tasks that can be placed, and the least cost of placing so many."""
    n, m = cost.shape
    best = (0, 0.0)
    for choice in product(range(-1, m), repeat=n):
        x = np.array(choice)
        placed = np.flatnonzero(x >= 0)
        total = float(cost[placed, x[placed]].sum())
        if np.isfinite(total) and _fits(x, np.ones(n, np.int64), room, group, cap):
            best = max(best, (len(placed), -total))
    return best[0], -best[1]


def _insert(cost: np.ndarray, size: Any, room: Any, group: Any, cap: Any, **given: Any) -> Any:
    n = len(size)
    x = np.full(n, -1)
    order = given.get("order", np.arange(n))
    limit, strict = given.get("limit", 1e9), given.get("strict", False)
    row = given.get("row", np.arange(n))
    return insert(cost, row, limit, size, room, group, cap, order, strict, x), x


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=300)
def test_both_agree_with_enumeration(seed: int) -> None:
    cost, room, group, cap = _drawn(seed)
    n, m = cost.shape
    most, least = _enumerated(cost, room, group, cap)
    x, price = np.full(n, -1), np.zeros(m + len(cap))
    assert cheapest(cost, room, group, cap, x, price) == most
    assert _fits(x, np.ones(n, np.int64), room, group, cap)
    if most == n:
        assert cost[np.arange(n), x].sum() == pytest.approx(least)
    placed, x = _insert(cost, np.ones(n, np.int64), room, group, cap)
    assert placed == most
    assert _fits(x, np.ones(n, np.int64), room, group, cap)
    assert np.isfinite(cost[x >= 0, x[x >= 0]]).all()


@given(st.integers(0, 2**32 - 1))
def test_prices_prove_the_least_cost(seed: int) -> None:
    """No task would gain elsewhere at the prices, and what is not full costs nothing."""
    cost, room, _, _ = _drawn(seed)
    n, m = cost.shape
    group, cap = np.full(m, -1), np.zeros(0, np.int64)
    x, price = np.full(n, -1), np.zeros(m)
    placed = cheapest(cost, room, group, cap, x, price)
    fill = np.bincount(x[x >= 0], minlength=m)
    assert (price >= 0).all()
    assert (price[fill < room] == 0).all()
    if placed == n:
        paid = cost[np.arange(n), x] + price[x]
        assert (paid <= (cost + price).min(axis=1) + 1e-9).all()


@given(st.integers(0, 2**32 - 1))
def test_earlier_tasks_are_never_dropped_for_later_ones(seed: int) -> None:
    cost, room, group, cap = _drawn(seed)
    n = len(cost)
    one = np.ones(n, np.int64)
    _, whole = _insert(cost, one, room, group, cap)
    for k in range(n):
        _, part = _insert(cost, one, room, group, cap, order=np.arange(k))
        assert set(np.flatnonzero(part >= 0)) == set(np.flatnonzero(whole[:k] >= 0))


@given(st.integers(0, 2**32 - 1))
def test_tasks_of_several_sizes_stay_within_the_room(seed: int) -> None:
    cost, room, group, cap = _drawn(seed)
    size = np.random.default_rng(seed).choice([1, 2, 3], len(cost))
    placed, x = _insert(cost, size, room, group, cap)
    assert placed == (x >= 0).sum()
    assert _fits(x, size, room, group, cap)


def test_a_path_makes_room() -> None:
    # b can go to the first cluster alone, where a is: a moves on, and c after it.
    cost = np.array([[1.0, 2.0, np.inf], [np.inf, 1.0, 2.0], [1.0, np.inf, np.inf]])
    none, cap = np.full(3, -1), np.zeros(0, np.int64)
    placed, x = _insert(cost, np.ones(3, np.int64), np.ones(3, np.int64), none, cap)
    assert (placed, x.tolist()) == (3, [1, 2, 0])


def test_limits_rows_and_strictness() -> None:
    table = np.array([[5.0, 7.0]])
    row, size = np.zeros(3, np.int64), np.ones(3, np.int64)
    room, none, cap = np.array([1, 5]), np.full(2, -1), np.zeros(0, np.int64)
    assert _insert(table, size, room, none, cap, row=row, limit=6.0)[0] == 1
    assert _insert(table, size, room, none, cap, row=row, limit=7.0)[0] == 3
    strict = _insert(table, size, room, none, cap, row=row, limit=6.0, strict=True)
    assert strict[0] == 1


def test_a_group_at_its_cap_gives_a_task_away() -> None:
    # Both clusters of group 0 have slots, and the group may hold one task: a leaves it for c.
    cost = np.array([[1.0, np.inf, 3.0], [np.inf, 1.0, np.inf]])
    group, cap = np.array([0, 0, -1]), np.array([1])
    placed, x = _insert(cost, np.ones(2, np.int64), np.array([2, 2, 2]), group, cap)
    assert (placed, x.tolist()) == (2, [2, 1])
    x, price = np.full(2, -1), np.zeros(4)
    assert cheapest(cost, np.array([2, 2, 2]), group, cap, x, price) == 2
    assert x.tolist() == [2, 1]
    assert price[3] == pytest.approx(2.0)

"""Covers against all subsets of the replicas of a server."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from walras.kernels.local_search.cover import departures, make_items


def bound(
    load: Any, memory: Any, cost: Any, need_load: float, need_memory: float, unit: float = 0.0
) -> float:
    """The bound of one server."""
    out = np.zeros(1)
    departures(
        np.array([0, len(load)], np.int64),
        np.asarray(load, float),
        np.asarray(memory, float),
        np.asarray(cost, float),
        np.array([need_load]),
        np.array([need_memory]),
        unit,
        make_items(len(load)),
        out,
    )
    return float(out[0])


def by_trying(load: Any, memory: Any, cost: Any, need_load: float, need_memory: float) -> float:
    """The cheapest of all subsets that cover both needs."""
    chosen = np.array(list(product([0.0, 1.0], repeat=len(load))))
    covers = (chosen @ load >= need_load - 1e-9) & (chosen @ memory >= need_memory - 1e-9)
    return float((chosen @ cost)[covers].min())


sizes = st.integers(1, 30).map(lambda k: k / 4.0)


@settings(max_examples=150)
@given(
    items=st.lists(st.tuples(sizes, sizes, sizes), min_size=1, max_size=9),
    shares=st.tuples(st.floats(0.0, 1.0), st.floats(0.0, 1.0)),
    equal=st.booleans(),
)
def test_the_bound_of_a_few_replicas_is_the_cheapest_cover(
    items: list[tuple[float, float, float]], shares: tuple[float, float], equal: bool
) -> None:
    load, memory, cost = (np.array(column) for column in zip(*items, strict=True))
    if equal:
        cost = np.full(len(load), 2.0)
    needs = float(load.sum() * shares[0]), float(memory.sum() * shares[1])
    needs = tuple(need if need > 1e-6 else 0.0 for need in needs)  # type: ignore[assignment]
    found = bound(load, memory, cost, *needs, unit=2.0 if equal else 0.0)
    assert found == pytest.approx(by_trying(load, memory, cost, *needs), abs=1e-9)


def test_where_all_must_leave_all_are_paid_for() -> None:
    assert bound([1.0, 2.0], [1.0, 1.0], [3.0, 4.5], np.inf, 0.0) == 7.5


def test_where_nothing_must_leave_nothing_is_paid() -> None:
    assert bound([1.0, 2.0], [1.0, 1.0], [3.0, 4.5], 0.0, -1.0) == 0.0


@pytest.mark.parametrize("seed", range(3))
def test_the_bound_of_many_replicas_is_not_above_a_cover(seed: int) -> None:
    """More than the search may look at: then the relaxation counts, rounded up to the unit."""
    rng = np.random.default_rng(seed)
    load, memory = rng.pareto(1.5, 60) + 0.1, rng.lognormal(0.0, 1.0, 60)
    needs = 0.3 * load.sum(), 0.4 * memory.sum()
    found = bound(load, memory, np.ones(60), *needs, unit=1.0)
    largest = np.argsort(-(load / needs[0] + memory / needs[1]))
    reached = np.cumsum(load[largest]) >= needs[0]
    reached &= np.cumsum(memory[largest]) >= needs[1]
    assert found == round(found)
    assert 1.0 <= found <= int(np.argmax(reached)) + 1
    alone = max(bound(load, memory, np.ones(60), needs[0], 0.0, 1.0), 0.0)
    assert found >= alone - 1e-9

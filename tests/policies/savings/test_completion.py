"""Prices prove bounds, whoever chose them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from walras.policies.savings.completion import completion_bound


def _bound(price: list[float], steps: list[float], nodes: list[float]) -> float:
    n = len(steps)
    alone = np.array(steps)[:, None]
    prices = np.array(price)[:, None]
    return completion_bound(
        np.zeros(n), np.ones((n, 1)), alone, np.array(nodes), prices, np.array([1.0])
    )


def test_without_prices_every_job_is_alone() -> None:
    assert _bound([0.0, 0.0], [3.0, 7.0], [0.0, 20.0]) == pytest.approx(10.0)


def test_the_best_prices_of_two_jobs_are_exact() -> None:
    """Jobs of 1 and 2 s end at 1 and 3 s. Prices fall by 1/p of the job that runs: at 1 s a second
    there delays the long job alone, by half of it a second."""
    assert _bound([2.0, 1.0, 0.0], [1.0, 2.0], [0.0, 1.0, 3.0]) == pytest.approx(4.0)


@settings(max_examples=60, deadline=None)
@given(
    price=st.lists(st.floats(0.0, 5.0), min_size=5, max_size=5),
    steps=st.lists(st.integers(1, 9), min_size=1, max_size=5),
)
def test_no_prices_prove_more_than_the_best_schedule(price: list[float], steps: list[int]) -> None:
    """On one worker the shortest first is best."""
    best = float(np.cumsum(np.sort(steps)).sum())
    nodes = [0.0, 3.0, 8.0, 15.0, 30.0]
    assert _bound(price, [float(s) for s in steps], nodes) <= best + 1e-9

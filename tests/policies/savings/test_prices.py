"""Prices of workers over time prove nearly the best on one worker; an empty cluster is free."""

from __future__ import annotations

import numpy as np
import pytest
from tests.simulate.small import on_one

from walras.policies.savings.completion import completion_bound
from walras.policies.savings.prices import good_prices
from walras.simulate import Cluster


@pytest.mark.parametrize("seed", range(3))
def test_the_prices_prove_nearly_the_best_on_one_worker(seed: int) -> None:
    """Jobs that are there at once: the shortest first is best."""
    steps = np.random.default_rng(seed).uniform(5.0, 100.0, 12)
    trace = on_one(steps.tolist())
    nodes, price = good_prices(trace, Cluster({"gpu": 1}), np.ones((12, 1)), steps[:, None])
    assert nodes[0] == 0.0
    assert (np.diff(nodes) > 0.0).all()
    assert (price >= 0.0).all()
    assert not price[-1].any()
    found = completion_bound(
        trace.arrival, np.ones((12, 1)), steps[:, None], nodes, price, np.array([1.0])
    )
    best = float(np.cumsum(np.sort(steps)).sum())
    assert 0.98 * best <= found <= best


def test_an_empty_cluster_is_free() -> None:
    steps = np.array([10.0, 20.0])
    _, price = good_prices(
        on_one(steps.tolist()), Cluster({"gpu": 9}), np.ones((2, 1)), steps[:, None]
    )
    assert price.max() == pytest.approx(0.0, abs=1e-3)

"""Prices of assignments: bounds equal those of NumPy and hold."""

from __future__ import annotations

import numpy as np
import pytest
from tests.bank.whole import best_assignment, drawn_assignment

from walras.kernels.local_search import assign


@pytest.mark.parametrize("kind", ["C", "D", "E"])
def test_prices_bound_every_assignment(kind: str) -> None:
    cost, weight, capacity = drawn_assignment(kind, 3, 7, 4)
    capacity = 1.3 * capacity
    c, a = np.ascontiguousarray(cost.T), np.ascontiguousarray(weight.T)
    price, load = np.random.default_rng(0).uniform(0, 2, 3), np.zeros(3)
    plain = (c + price * a).min(axis=1).sum() - price @ capacity
    assert assign.priced(c, a, capacity, price, load) == pytest.approx(plain)
    assert load.sum() == pytest.approx(a[np.arange(7), (c + price * a).argmin(axis=1)].sum())
    best = best_assignment(cost, weight, capacity)
    assert plain <= best + 1e-9
    raised = assign.ascend(c, a, capacity, price, best, 500)
    assert plain <= raised <= best + 1e-9

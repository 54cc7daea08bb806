"""Search for assignments: loads, costs and bounds equal those of NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from tests.bank.whole import best_assignment, drawn_assignment

from walras.kernels.local_search import assign
from walras.kernels.local_search.random_numbers import seeded


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


def test_annealing_keeps_its_books() -> None:
    cost, weight, capacity = drawn_assignment("D", 4, 40, 4)
    c, a = np.ascontiguousarray(cost.T), np.ascontiguousarray(weight.T)
    near = np.argsort(c, axis=1).astype(np.int32)
    held = assign.make_assignment(near[:, 0], a)
    best = near[:, 0].copy()
    found = assign.anneal(
        c, a, capacity, near, held, best, np.inf, 5.0, 0.1, np.ones(4), 200_000, seeded(1)
    )
    every = np.arange(40)
    np.testing.assert_allclose(held.load, np.bincount(held.agent, a[every, held.agent], 4))
    for i in range(4):
        members = held.member[i, : held.held[i]]
        assert sorted(members.tolist()) == np.flatnonzero(held.agent == i).tolist()
        assert held.place[members].tolist() == list(range(held.held[i]))
    assert found == pytest.approx(c[every, best].sum())
    assert np.all(np.bincount(best, a[every, best], 4) <= capacity + 1e-9)

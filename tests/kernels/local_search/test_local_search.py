"""Local search kernels keep their books: loads, costs and bounds equal plain NumPy's."""

from __future__ import annotations

import numpy as np
import pytest
from tests.bank.whole import best_assignment, drawn_assignment

from walras.kernels.local_search import assign, flow
from walras.kernels.local_search.random_numbers import below, draw, seeded


def test_random_numbers_fill_the_interval_and_depend_on_the_seed() -> None:
    state = seeded(3)
    drawn = np.array([draw(state) for _ in range(4000)])
    assert drawn.min() >= 0.0
    assert drawn.max() < 1.0
    assert abs(drawn.mean() - 0.5) < 0.02
    assert abs(np.corrcoef(drawn[1:], drawn[:-1])[0, 1]) < 0.05
    assert draw(seeded(4)) != draw(seeded(5))
    counts = np.bincount([below(state, 5) for _ in range(2000)], minlength=5)
    assert counts.min() > 300


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


def test_chains_carry_load_over_servers_that_share_shards() -> None:
    # Server 0 can only give to 2 through 1, by shards 0 and 1.
    size = np.array([6.0, 2.0])
    limits = flow.Limits(
        np.full(3, 2.0), np.full(3, 3.0), np.full(3, 9.0), np.ones(2), np.ones(2), size, 1e-12
    )
    held = flow.make_replicas(
        np.array([0, 1, 1, 2], dtype=np.int32),
        np.array([0, 0, 1, 1], dtype=np.int32),
        np.array([6.0, 0.0, 2.0, 0.0]),
        limits,
        2,
    )
    chain = flow.make_chain(3, 2)
    assert flow.violation(held, limits) == pytest.approx(5.0)
    assert flow.balance(held, limits, chain) == 0.0
    np.testing.assert_allclose(held.total, np.bincount(held.server[:4], held.load[:4], 3))
    np.testing.assert_allclose(np.bincount(held.shard[:4], held.load[:4]), size)
    assert (chain.before == -1).all()
    assert (chain.seen == 0).all()


def test_a_server_out_of_reach_leaves_a_cut() -> None:
    limits = flow.Limits(
        np.full(2, 2.0),
        np.full(2, 4.0),
        np.full(2, 9.0),
        np.ones(2),
        np.ones(2),
        np.array([5.0, 1.0]),
        1e-12,
    )
    both = np.arange(2, dtype=np.int32)
    held = flow.make_replicas(both, both, np.array([5.0, 1.0]), limits, 2)
    chain = flow.make_chain(2, 2)
    assert flow.balance(held, limits, chain) == pytest.approx(2.0)
    assert flow.closure(held, limits, chain, 1, True) == 1
    assert chain.queue[0] == 1
    flow.forget(chain)
    assert (chain.before == -1).all()

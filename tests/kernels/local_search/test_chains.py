"""Ejection chains: rooms and energies equal those of NumPy; small optima are reached."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.bank.whole import best_assignment, drawn_assignment

from walras.kernels.local_search import chains
from walras.kernels.local_search.random_numbers import seeded


def energy(near: chains.Near, agent: np.ndarray, room: np.ndarray) -> float:
    """The energy by NumPy."""
    rooms = np.where(room >= 0.0, near.price * room, -near.penalty * room)
    return float(near.reduced[np.arange(len(agent)), agent].sum() + rooms.sum())


def make(
    kind: str, agents: int, tasks: int, seed: int, penalty: float = 2.0
) -> tuple[chains.Near, np.ndarray]:
    """All entries at equal prices, and the capacities."""
    cost, weight, capacity = drawn_assignment(kind, agents, tasks, seed)
    capacity = np.ceil(1.1 * capacity)
    price = np.full(agents, cost.mean() / weight.mean() / 4.0)
    priced = np.ascontiguousarray((cost + price[:, None] * weight).T)
    reduced = priced - priced.min(axis=1, keepdims=True)
    every = np.ones(reduced.shape, dtype=np.bool_)
    w = np.ascontiguousarray(weight.T)
    near = chains.make_near(reduced, w, price, penalty * price, every, 128.0 / w.max())
    return near, capacity


def rooms(near: chains.Near, capacity: np.ndarray, agent: np.ndarray) -> np.ndarray:
    load = np.bincount(agent, near.weight[np.arange(len(agent)), agent], len(capacity))
    return np.asarray(capacity - load)


@settings(max_examples=30)
@given(
    kind=st.sampled_from("CDE"),
    seed=st.integers(0, 500),
    agents=st.integers(2, 7),
    heat=st.sampled_from([1e-6, 5.0, 100.0]),
)
def test_chains_keep_their_books(kind: str, seed: int, agents: int, heat: float) -> None:
    near, capacity = make(kind, agents, 40, seed)
    agent = np.argmin(near.reduced, axis=1).astype(np.int32)
    room = rooms(near, capacity, agent)
    first, best = energy(near, agent, room), agent.copy()
    beam = chains.make_beam(6, 16, near)
    least = chains.search(near, agent, room, best, np.inf, heat, 200, beam, seeded(seed))
    np.testing.assert_allclose(room, rooms(near, capacity, agent), atol=1e-6)
    assert np.all(beam.came == -1)
    assert np.all(beam.used == 0)
    if heat < 1e-3:
        assert energy(near, agent, room) <= first + 1e-6
    if np.isfinite(least):
        left = rooms(near, capacity, best)
        assert np.all(left >= -1e-9)
        assert least == pytest.approx(energy(near, best, left), abs=1e-6)


@pytest.mark.parametrize("kind", ["C", "D", "E"])
def test_chains_reach_the_optimum_of_small_problems(kind: str) -> None:
    cost, weight, _ = drawn_assignment(kind, 3, 7, 5)
    near, capacity = make(kind, 3, 7, 5, penalty=50.0)
    agent = np.argmin(near.reduced, axis=1).astype(np.int32)
    best, random = agent.copy(), seeded(0)
    chains.search(
        near,
        agent,
        rooms(near, capacity, agent),
        best,
        np.inf,
        20.0,
        20_000,
        chains.make_beam(3, 64, near),
        random,
    )
    found = cost[best, np.arange(7)].sum()
    assert found == best_assignment(cost, weight, capacity)


def test_one_chain_makes_the_exchange_that_needs_three_agents() -> None:
    # Each task costs nothing on the next agent, and all agents are full: only a cycle helps.
    cost = np.ones((3, 3)) - np.roll(np.eye(3), 1, axis=1)
    ones = np.ones((3, 3))
    every = np.ones((3, 3), dtype=np.bool_)
    near = chains.make_near(cost, ones, np.ones(3), 9.0 * np.ones(3), every, 1.0)
    agent = np.arange(3, dtype=np.int32)
    best, room = agent.copy(), np.zeros(3)
    least = chains.search(
        near, agent, room, best, 3.0, 1e-9, 20, chains.make_beam(3, 8, near), seeded(1)
    )
    assert least == 0.0
    assert best.tolist() == [1, 2, 0]
    assert room.tolist() == [0.0, 0.0, 0.0]


def test_one_chain_makes_the_swaps_that_move_a_room_to_where_it_costs_nothing() -> None:
    # Agent 0 has room for one unit too much; each agent can only swap with the next.
    agent = np.array([0, 1, 1, 2, 2, 3], dtype=np.int32)
    swapped = [1, 0, 2, 1, 3, 2]
    weight = np.repeat([[3.0], [4.0], [3.0], [4.0], [3.0], [4.0]], 4, axis=1)
    reduced = np.full((6, 4), 9.0)
    reduced[np.arange(6), agent] = reduced[np.arange(6), swapped] = 0.0
    every, price = np.ones((6, 4), dtype=np.bool_), np.array([1.0, 1.0, 1.0, 0.0])
    near = chains.make_near(reduced, weight, price, 9.0 * np.ones(4), every, 1.0)
    best, room = agent.copy(), np.array([1.0, 0.0, 0.0, 0.0])
    beam = chains.make_beam(4, 32, near)
    least = chains.search(near, agent, room, best, 1.0, 1e-9, 500, beam, seeded(1))
    assert least == 0.0
    assert best.tolist() == swapped
    assert room.tolist() == [0.0, 0.0, 0.0, 1.0]

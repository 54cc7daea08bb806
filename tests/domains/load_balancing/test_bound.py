"""The parts of the counting bound, each against its definition or against trying everything."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from walras.domains import load_balancing as lb
from walras.domains.load_balancing.bound import (
    Cut,
    _Covers,
    _crowded,
    _missing,
    counting_bound,
    limits_of,
    rounded_bound,
)


def round_of(load: Any, placed: Any, **options: Any) -> lb.Round:
    return lb.make_round(np.array(load, float), placed, **options)


def test_a_bound_rises_to_the_next_cost_that_moves_can_have() -> None:
    even = round_of([1.0, 1.0, 1.0], [0, 1, 1], band=0.5, cost=[2.0, 4.0, 6.0])
    assert rounded_bound(even, 3.1) == 4.0
    assert rounded_bound(even, 4.0) == 4.0
    assert rounded_bound(even, 4.0 + 1e-7) == 4.0  # rounding
    assert rounded_bound(even, 4.0 + 1e-5) == 6.0
    assert rounded_bound(even, 0.0) == 0.0
    assert str(rounded_bound(even, -1e-9)) == "0.0"
    assert rounded_bound(even, np.inf) == np.inf
    odd = round_of([1.0, 1.0, 1.0], [0, 1, 1], band=0.5, cost=[2.0, 3.0, 6.0])
    assert rounded_bound(odd, 2.1) == 2.1  # 2 and 3: no multiples of one cost
    near = replace(even, cost=np.array([2.0, 4.0 * (1 + 1e-12), 6.0]))
    assert rounded_bound(near, 3.1) == 4.0


def test_limits_give_draining_servers_no_room() -> None:
    problem = round_of([1.0, 2.0, 3.0], [0, 1, 2], band=0.9, memory=5.0, drain=["2"])
    limits = limits_of(problem)
    assert limits.memory.tolist() == [5.0, 5.0, -1.0]
    assert limits.tiny == pytest.approx(6e-12)
    np.testing.assert_array_equal(limits.lower, problem.lower)
    np.testing.assert_array_equal(limits.upper, problem.upper)


def test_missing_replicas_count_what_each_shard_lacks() -> None:
    placed = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [0.0, 0.0, 0.0]])
    problem = round_of([1.0, 1.0, 1.0], placed, band=2.0, replicas=2, cost=[1.0, 10.0, 100.0])
    assert _missing(problem) == 11.0  # the first two lack one each
    alone = round_of([1.0, 1.0, 1.0], placed, band=2.0, replicas=1, cost=[1.0, 10.0, 100.0])
    assert _missing(alone) == 0.0  # one too many is none too few


def test_replicas_on_draining_servers_are_missing() -> None:
    placed = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    problem = round_of([1.0, 1.0], placed, band=2.0, drain=["0"], cost=[3.0, 5.0])
    assert _missing(problem) == 3.0
    both = round_of([1.0, 1.0], placed, band=2.0, drain=["1"], cost=[3.0, 5.0])
    assert _missing(both) == 0.0  # the second replica stays


def test_zones_that_a_shard_lacks_are_missing() -> None:
    placed = np.array([[1.0, 1.0, 1.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]])
    problem = round_of(
        [1.0, 1.0, 1.0],
        placed,
        band=3.0,
        spread=2,
        zone=["a", "a", "b", "c"],
        cost=[1.0, 10.0, 100.0],
    )
    # Shard 0 has one replica; shard 1 two in one zone; shard 2 two in two.
    assert _missing(problem) == 11.0
    wide = round_of(
        [1.0, 1.0, 1.0],
        placed,
        band=3.0,
        spread=3,
        zone=["a", "a", "b", "c"],
        cost=[1.0, 10.0, 100.0],
    )
    assert _missing(wide) == 2.0 + 20.0 + 100.0


def crowded_by_trying(problem: lb.Round) -> float:
    """Least cost of moving out, server by server, shards without another replica."""
    total = 0.0
    count = problem.held.sum(axis=0)
    for i in range(problem.servers):
        here = np.flatnonzero(problem.held[i])
        free = [j for j in here if count[j] > 1]
        alone = [j for j in here if count[j] == 1]
        need = problem.footprint[here].sum() - problem.memory[i] - problem.footprint[free].sum()
        costs = [
            problem.cost[list(chosen)].sum()
            for size in range(len(alone) + 1)
            for chosen in combinations(alone, size)
            if problem.footprint[list(chosen)].sum() >= need - 1e-9
        ]
        total += min(costs, default=0.0)
    return total


@pytest.mark.parametrize("seed", range(25))
@pytest.mark.parametrize("priced", [False, True])
def test_crowded_servers_are_bounded_by_trying_everything(seed: int, *, priced: bool) -> None:
    rng = np.random.default_rng(seed)
    placed = np.zeros((3, 8))
    placed[rng.integers(0, 2, 8), np.arange(8)] = 1.0
    placed[2, rng.choice(8, 2, replace=False)] = 1.0
    problem = round_of(
        np.ones(8),
        placed,
        band=5.0,
        footprint=rng.choice([1.0, 2.0, 3.0], 8),
        memory=rng.uniform(2.0, 9.0) * np.array([1.0, 1.2, 4.0]),
        cost=rng.choice([1.0, 2.0, 5.0], 8) if priced else 1.0,
    )
    least = crowded_by_trying(problem)
    found = _crowded(problem)
    assert found <= least + 1e-9
    if not priced:
        assert found == least  # the largest first are the fewest
    elif least:
        assert found >= problem.cost.min()


def test_a_server_that_is_just_full_moves_nothing() -> None:
    problem = round_of(np.ones(4), [0, 0, 0, 1], band=2.0, memory=3.0)
    assert _crowded(problem) == 0.0
    assert _crowded(problem.with_memory(np.array([2.0, 2.0]))) == 1.0
    assert _crowded(problem.with_memory(np.array([1.5, 2.0]))) == 2.0


def fewest_pieces(load: Any, most: float, need: float, *, once: bool) -> int:
    """By definition: pieces of shards, each at most ``most``, that reach a need."""
    pieces: list[float] = []
    for amount in load:
        if once:
            pieces.append(min(amount, most))
            continue
        while amount > 1e-12:
            pieces.append(min(amount, most))
            amount -= pieces[-1]
    reached = np.cumsum(sorted(pieces, reverse=True))
    enough = np.flatnonzero(reached >= need - 1e-9)
    return int(enough[0]) + 1 if len(enough) else len(pieces)


@pytest.mark.parametrize("once", [False, True])
@pytest.mark.parametrize("seed", range(15))
def test_covers_of_equal_cost_are_the_fewest_pieces(seed: int, *, once: bool) -> None:
    rng = np.random.default_rng(seed)
    load = rng.choice([0.5, 1.0, 2.5, 4.0, 6.0], 6)
    problem = round_of(load, [0, 1, 0, 1, 0, 1], band=0.1)
    most, need = float(rng.choice([1.0, 2.0, 5.0])), float(rng.uniform(0.2, 6.0))
    cost, worst = _Covers(problem)._of(need, np.arange(6), most, once=once)
    assert cost == fewest_pieces(load, most, need, once=once)
    assert 0.0 <= worst <= most


def test_covers_of_unequal_cost_are_the_linear_relaxation() -> None:
    problem = round_of([2.0, 3.0, 4.0], [0, 1, 0], band=0.1, cost=[1.0, 2.0, 8.0])
    covers = _Covers(problem)
    every = np.arange(3)
    # Load a unit of cost: 2, 1.5, .5. A need of 3: all of the first, a third of the second.
    cost, worst = covers._of(3.0, every, 10.0, once=True)
    assert cost == pytest.approx(1.0 + 2.0 / 3.0)
    assert worst == pytest.approx(1.5)
    cost, worst = covers._of(7.0, every, 10.0, once=True)
    assert cost == pytest.approx(1.0 + 2.0 + 8.0 * 2.0 / 4.0)
    # A part of a move is a move: never below the least cost.
    assert covers._of(0.1, every, 10.0, once=True)[0] == 1.0
    # Together too little: all of them.
    assert covers._of(20.0, every, 10.0, once=True) == (11.0, 0.0)


def test_what_comes_in_comes_from_outside_or_for_each_server() -> None:
    # Servers 0 and 1 lack load; shard 2 alone stands outside.
    problem = round_of([1.0, 1.0, 10.0], [0, 1, 2], band=0.1)
    covers = _Covers(problem)
    need = float((problem.lower[:2] - 1.0).sum())
    cut = Cut(np.array([0, 1]), np.array([0, 1]), need)
    # Together one piece of 4.4 does not do for 5.2: two; apart one for each.
    assert covers.inward(cut) == 2.0
    single = Cut(np.array([0]), np.array([0]), float(problem.lower[0] - 1.0))
    assert covers.inward(single) == 1.0
    surplus = Cut(np.array([2]), np.array([2]), float(10.0 - problem.upper[2]))
    assert covers.outward(surplus) == 2.0
    found = counting_bound(problem)
    assert found.value == 2.0
    assert sum(cut.need for cut in found.lacking) == pytest.approx(need)
    assert sum(cut.need for cut in found.surplus) == pytest.approx(10.0 - problem.upper[2])


def test_two_servers_that_each_lack_a_little_need_two_replicas() -> None:
    """1.4 each of 5.4: one piece of 2.8 would do for both, were they one server."""
    problem = round_of([4.0, 4.0, 10.0], [0, 1, 2], band=0.1)
    covers = _Covers(problem)
    assert covers._outside(2.8, np.array([0, 1], np.int32), 6.6, once=False) == 1.0
    assert covers.inward(Cut(np.array([0, 1]), np.array([0, 1]), 2.8)) == 2.0


def test_a_shard_inside_is_not_looked_at() -> None:
    problem = round_of(np.r_[9.0, np.ones(60)], np.r_[np.zeros(60, int), 1], band=0.1)
    covers = _Covers(problem)
    assert covers._outside(3.0, np.array([0], np.int32), 100.0, once=False) == 3.0
    assert covers._outside(3.0, np.array([5], np.int32), 100.0, once=False) == 1.0
    # More are needed than are looked at first.
    assert covers._outside(50.0, np.array([0], np.int32), 100.0, once=False) == 50.0


def test_sets_that_no_shard_joins_are_bounded_apart() -> None:
    """Servers 0 and 1 share shard 0 and lack load; so does 2 by itself; 3 has too much."""
    placed = np.zeros((4, 5))
    placed[0, [0, 1]] = placed[1, [0, 2]] = placed[2, 3] = placed[3, 4] = 1.0
    problem = round_of([2.0, 1.0, 1.0, 4.0, 32.0], placed, band=0.1)
    found = counting_bound(problem)
    sets = [(cut.servers.tolist(), cut.shards.tolist()) for cut in found.lacking]
    assert sets == [([0, 1], [0, 1, 2]), ([2], [3])]
    assert [cut.need for cut in found.lacking] == pytest.approx([18 - 4, 9 - 4])
    (over,) = found.surplus
    assert (over.servers.tolist(), over.shards.tolist()) == ([3], [4])
    assert over.need == pytest.approx(32 - 11)
    # Two for the first, one for the second; 21 in pieces of 11 are two.
    assert found.value == 3.0


def test_a_server_that_carries_nothing_of_a_shard_does_not_give_it_away() -> None:
    """Shard 1's replica on server 0 is idle there: it fills server 2, and its load is not over."""
    placed = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    problem = round_of([20.0, 5.0, 5.0], placed, band=0.1)
    problem = replace(
        problem,
        server=np.array([0, 0, 1, 2], np.int32),
        shard=np.array([0, 1, 2, 1], np.int32),
        share=np.array([1.0, 0.0, 1.0, 1.0]),
    )
    (over,) = counting_bound(problem).surplus
    assert over.servers.tolist() == [0]
    assert over.shards.tolist() == [0]
    assert over.need == pytest.approx(20.0 - 11.0)


def test_covers_of_one_shard_and_of_none() -> None:
    covers = _Covers(round_of([2.0, 3.0], [0, 1], band=0.5, cost=[5.0, 7.0]))
    assert covers._of(1.5, np.array([0]), 10.0, once=True) == (5.0, 1.5 / 5.0)
    assert covers._of(2.5, np.array([0]), 10.0, once=True) == (5.0, 0.0)
    assert covers._of(1.0, np.zeros(0, np.int64), 10.0, once=False) == (0.0, 0.0)
    # Four pieces of 0.5 and no fifth of nothing.
    assert covers._of(9.0, np.array([0]), 0.5, once=False) == (20.0, 0.0)
    assert covers._of(2.0, np.array([0]), 0.5, once=False) == (20.0, 0.1)


def test_one_large_shard_alone_leaves_a_server_without_room() -> None:
    problem = round_of(
        [1.0, 1.0, 1.0],
        [0, 1, 2],
        band=2.0,
        footprint=[3.0, 1.0, 1.0],
        memory=[2.5, 9.0, 9.0],
        cost=[4.0, 1.0, 1.0],
    )
    assert _crowded(problem) == 4.0

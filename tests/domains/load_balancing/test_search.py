"""The search's parts: orders, homeless shards, its clock, and what becomes of idle replicas."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.domains.load_balancing.rounds import drawn_round

from walras.domains import load_balancing as lb
from walras.domains.load_balancing.search import (
    IDLE,
    Effort,
    Placed,
    _canonical,
    _homeless,
    _ordered,
    search,
    tidied,
)

Triple = tuple[int, int, float]


def held(load: list[float], where: list[tuple[int, int]], servers: int, **options: Any) -> lb.Round:
    """Shards with these loads, the replicas (server, shard) there now."""
    placed = np.zeros((servers, len(load)))
    for i, j in where:
        placed[i, j] = 1.0
    return lb.make_round(load, placed, **options)


def tidy(problem: lb.Round, replicas: list[Triple], *, keep: bool) -> tuple[list[Triple], float]:
    """The replicas and their cost after tidying these, which stand in any order."""
    server, shard, load = zip(*replicas, strict=True)
    placed = Placed(
        np.array(server, np.int32), np.array(shard, np.int32), np.array(load), 99.0, attempts=3
    )
    found = tidied(problem, placed, keep=keep)
    assert found.attempts == 3
    assert placed.load.tolist() == list(load)  # untouched
    triples = zip(found.server.tolist(), found.shard.tolist(), found.load.tolist(), strict=True)
    return list(triples), found.cost


def test_servers_are_ordered_by_what_they_are_and_then_by_what_they_hold() -> None:
    problem = held(
        [1.0, 1.0, 1.0],
        [(0, 2), (1, 1), (2, 0), (3, 0), (4, 1), (5, 2)],
        6,
        band=9.0,
        drain=["0"],
        weight=[1, 2, 1, 1, 1, 1],
        memory=[1, 1, 2, 1, 1, 1],
    )
    # Last what drains, then the fast, then the roomy; of 3, 4 and 5 by the shards held.
    assert _canonical(problem).tolist() == [3, 4, 5, 2, 1, 0]
    # Of the same shard, by its part.
    parts = lb.make_round([1.0], np.array([[0.6], [0.4]]), band=9.0)
    assert _canonical(parts).tolist() == [1, 0]


def test_a_round_in_another_order_is_the_same_round() -> None:
    placed = np.array([[0, 1, 1], [0, 1, 0], [1, 0, 0]])
    problem = lb.make_round(
        [1.0, 2.0, 3.0],
        placed,
        drain=["y"],
        weight=[1, 2, 3],
        memory=[4, 5, 6],
        zone=["a", "b", "c"],
        servers=["x", "y", "z"],
        band=0.3,
    )
    order = np.array([2, 0, 1], np.int32)
    found = _ordered(problem, order, np.argsort(order).astype(np.int32))
    assert found.server_names == ("z", "x", "y")
    assert found.weight.tolist() == [3, 1, 2]
    assert found.memory.tolist() == [6, 4, 5]
    assert found.drain.tolist() == [False, False, True]
    assert found.zone.tolist() == [2, 0, 1]
    assert found.held.tolist() == problem.held[order].tolist()
    assert found.shard.tolist() == [0, 1, 1, 2]
    assert found.server.tolist() == [0, 1, 2, 1]
    assert found.share.tolist() == [1.0, 0.5, 0.5, 1.0]


def test_homeless_shards_come_largest_first() -> None:
    problem = held([1.0, 5.0, 2.0, 9.0, 5.0], [(0, 3)], 2, band=9.0)
    assert _homeless(problem).tolist() == [1, 4, 2, 0]
    assert _homeless(held([1.0, 2.0], [(0, 0), (1, 1)], 2)).tolist() == []


def test_a_search_asks_now_and_then_whether_to_go_on() -> None:
    """After each 250 attempts and after the last; no bound stops it here."""
    problem = drawn_round(3, 10, 50, band=0.05)
    seen: list[tuple[int, float]] = []

    def proceed(attempts: int, cost: float) -> bool:
        seen.append((attempts, cost))
        return len(seen) < 4

    found = search(problem, Effort(600, -1.0, 0, proceed))
    assert [attempts for attempts, _ in seen] == [250, 500, 600]
    assert found.attempts == 600
    costs = [cost for _, cost in seen]
    assert costs == sorted(costs, reverse=True)
    assert found.cost == costs[-1]
    seen.clear()
    assert search(problem, Effort(10**6, -1.0, 0, proceed)).attempts == 1000
    # Enough is enough: not one attempt.
    assert search(problem, Effort(600, found.cost * 10, 0, proceed)).attempts == 0
    assert search(problem, Effort(0, -1.0, 0)).attempts == 0


def test_a_search_stops_where_its_cost_is_enough() -> None:
    problem = drawn_round(3, 10, 50, band=0.05)
    start = search(problem, Effort(0, -1.0, 0))
    assert search(problem, Effort(600, start.cost, 0)).attempts == 0
    best = search(problem, Effort(600, -1.0, 0))
    assert best.cost < start.cost
    assert search(problem, Effort(600, best.cost, 0)).attempts <= 600


def test_what_is_found_is_told_by_the_servers_as_given() -> None:
    problem = drawn_round(3, 10, 50, band=0.05)
    found = search(problem, Effort(100, -1.0, 0))
    shares = np.zeros((10, 50))
    shares[found.server, found.shard] = found.load / problem.load[found.shard]
    placed = shares > -1.0
    placed[:] = False
    placed[found.server, found.shard] = True
    judged = lb.evaluate(problem, shares, placed)
    assert judged.violation < 1e-9
    assert judged.cost == pytest.approx(found.cost)


# Two servers of 10 in a band of a fifth: 8 to 12; an idle replica is to carry 0.001.
SPLIT = [(0, 0), (1, 0), (1, 1)]


def test_an_idle_replica_is_given_a_little_by_the_one_that_carries_most() -> None:
    problem = held([10.0, 10.0], SPLIT, 2, band=0.2)
    least = IDLE * 10.0
    found, cost = tidy(problem, [(0, 0, 10.0), (1, 0, 0.0), (1, 1, 10.0)], keep=True)
    assert found == [(0, 0, 10.0 - least), (1, 0, least), (1, 1, 10.0)]
    assert cost == 0.0
    # What carries less than that is given the rest; what carries more is left.
    found, _ = tidy(problem, [(0, 0, 10.0 - 0.25e-3), (1, 0, 0.25e-3), (1, 1, 10.0)], keep=True)
    assert found[1][2] == pytest.approx(least, rel=1e-12)
    assert found[0][2] == pytest.approx(10.0 - least, rel=1e-12)
    given: list[Triple] = [(0, 0, 9.0), (1, 0, 1.0), (1, 1, 10.0)]
    assert tidy(problem, given, keep=True) == (given, 0.0)
    three = held([10.0, 9.0, 11.0], [(0, 0), (1, 0), (2, 0), (1, 1), (2, 2)], 3, band=0.2)
    found, _ = tidy(
        three, [(0, 0, 9.0), (1, 0, 1.0), (2, 0, 0.0), (1, 1, 9.0), (2, 2, 11.0)], keep=True
    )
    assert found[:3] == [(0, 0, 9.0 - least), (1, 0, 1.0), (2, 0, least)]


def test_of_a_small_shard_it_is_given_half() -> None:
    problem = held([0.0008, 10.0, 10.0], [(0, 0), (1, 0), (0, 1), (1, 2)], 2, band=0.2)
    found, _ = tidy(problem, [(0, 0, 0.0008), (1, 0, 0.0), (0, 1, 10.0), (1, 2, 10.0)], keep=True)
    assert found[:2] == [(0, 0, 0.0004), (1, 0, 0.0004)]


def test_an_idle_replica_that_the_band_leaves_no_room_for_is_dropped() -> None:
    """Server 0 is at its least load of 8, or server 1 at its most of 12."""
    problem = held([8.0, 12.0], SPLIT, 2, band=0.2)
    found, _ = tidy(problem, [(0, 0, 8.0), (1, 0, 0.0), (1, 1, 12.0)], keep=True)
    assert found == [(0, 0, 8.0), (1, 1, 12.0)]
    # What carries more than a little stays, room or none.
    given: list[Triple] = [(0, 0, 7.0), (1, 0, 1.0), (1, 1, 12.0)]
    assert tidy(held([8.0, 12.0], SPLIT, 2, band=0.3), given, keep=True) == (given, 0.0)


def test_replicas_that_others_can_take_over_from_are_dropped_when_asked() -> None:
    problem = held([10.0, 10.0], SPLIT, 2, band=0.2)
    found, _ = tidy(problem, [(0, 0, 10.0), (1, 0, 0.0), (1, 1, 10.0)], keep=False)
    assert found == [(0, 0, 10.0), (1, 1, 10.0)]
    found, _ = tidy(problem, [(0, 0, 9.0), (1, 0, 1.0), (1, 1, 10.0)], keep=False)
    assert found == [(0, 0, 10.0), (1, 1, 10.0)]
    # Just within the bands' ends: 8 to 12 after it.
    found, _ = tidy(
        held([12.0, 8.0], SPLIT, 2, band=0.2), [(0, 0, 9.0), (1, 0, 3.0), (1, 1, 8.0)], keep=False
    )
    assert found == [(0, 0, 12.0), (1, 1, 8.0)]
    # Beyond them it stays, and so does what no other replica is left for.
    for load in ([12.5, 7.5], [13.0, 7.0]):
        given: list[Triple] = [(0, 0, load[0] - 3.0), (1, 0, 3.0), (1, 1, load[1])]
        assert tidy(held(load, SPLIT, 2, band=0.2), given, keep=False)[0] == given


def test_a_replica_that_cannot_be_dropped_is_kept_with_a_little() -> None:
    """Server 1 would be below 8 without the 0.0005 of shard 0: it is given the rest of 0.001."""
    problem = held([12.0005, 7.9995], SPLIT, 2, band=0.2)
    given: list[Triple] = [(0, 0, 12.0), (1, 0, 0.0005), (1, 1, 7.9995)]
    found, _ = tidy(problem, given, keep=False)
    assert [(i, j) for i, j, _ in found] == SPLIT
    assert found[1][2] == pytest.approx(0.001, rel=1e-9)
    assert found[0][2] == pytest.approx(11.9995, rel=1e-12)


def test_new_replicas_are_kept_and_paid_for_and_old_ones_that_they_replace_go() -> None:
    problem = held([10.0, 10.0], [(0, 0), (1, 1), (0, 1)], 2, band=0.2, cost=[3.0, 5.0])
    found, cost = tidy(problem, [(0, 0, 10.0), (1, 0, 0.0), (1, 1, 10.0), (0, 1, 0.0)], keep=False)
    assert [(i, j) for i, j, _ in found] == [(0, 0), (1, 0), (1, 1)]
    assert found[1][2] == IDLE * 10.0
    assert cost == 3.0


def test_the_first_other_replica_with_room_takes_over() -> None:
    """Of shard 0 on all three: server 1 is full, and so 2 takes over from 0, and then from 1."""
    problem = held(
        [6.0, 6.0, 11.0, 7.0],
        [(0, 0), (1, 0), (2, 0), (0, 1), (1, 2), (2, 3)],
        3,
        band=0.25,
        weight=[0.7, 1.0, 1.0],
    )
    assert problem.upper.tolist() == pytest.approx([9.722, 13.889, 13.889], abs=1e-3)
    given: list[Triple] = [
        (0, 0, 1.0),
        (1, 0, 2.5),
        (2, 0, 2.5),
        (0, 1, 6.0),
        (1, 2, 11.0),
        (2, 3, 7.0),
    ]
    found, _ = tidy(problem, given, keep=False)
    assert found == [(2, 0, 6.0), (0, 1, 6.0), (1, 2, 11.0), (2, 3, 7.0)]

"""The baselines' steps, worked out by hand, and their limits."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.domains.load_balancing.rounds import drawn_round

from walras.domains import load_balancing as lb
from walras.domains.load_balancing import baselines
from walras.domains.load_balancing.baselines import (
    _even_parts,
    _Greedy,
    _part,
    _place_homeless,
    _rebalanced,
)
from walras.errors import EngineError, InputError
from walras.status import Status


def shares_of(problem: lb.Round) -> np.ndarray:
    out = np.zeros((problem.servers, problem.shards))
    out[problem.server, problem.shard] = problem.share
    return out


def greedy(problem: lb.Round) -> tuple[_Greedy, np.ndarray]:
    share = shares_of(problem)
    return _Greedy(problem, share), share


def test_the_hottest_shard_that_fits_goes_from_the_fullest_to_the_emptiest() -> None:
    """Loads 12, 5 and 1 in a band of a half: 3 to 9. Of 6, 4 and 2, server 0 can spare 4 whole."""
    problem = lb.make_round([6.0, 4.0, 2.0, 5.0, 1.0], [0, 0, 0, 1, 2], band=0.5)
    steps, share = greedy(problem)
    assert steps.step()
    # 8 of room on server 2, and 9 to spare of server 0: the 6 goes.
    assert share.tolist() == [[0, 1, 1, 0, 0], [0, 0, 0, 1, 0], [1, 0, 0, 0, 1]]
    assert not steps.step()
    found = lb.estore(problem)
    assert (found.moves, found.value, found.method) == (1, 1.0, "E-Store greedy")
    assert found.loads.tolist() == [6.0, 5.0, 7.0]


def test_a_shard_that_is_too_hot_is_split_so_that_both_stay_in_the_band() -> None:
    """10 and 2 beside 5.4 and 6.6: what fits is 4.6 of room, 4.6 to spare."""
    problem = lb.make_round([10.0, 2.0], [0, 1], band=0.1)
    steps, share = greedy(problem)
    assert steps.step()
    assert share.ravel().tolist() == pytest.approx([0.54, 0.0, 0.46, 1.0])
    assert not steps.step()
    # With weights the two differ: 8 and 4, in 7.2..8.8 and 3.6..4.4; 2.4 of room, 2.8 to spare.
    problem = lb.make_round([10.0, 2.0], [0, 1], band=0.1, weight=[2.0, 1.0])
    steps, share = greedy(problem)
    assert steps.step()
    assert share[:, 0].tolist() == pytest.approx([0.76, 0.24])


def test_who_lacks_load_gets_it_from_who_has_most_to_spare() -> None:
    """Nobody is over 4.05, and server 2 has 1.25 of at least 1.95."""
    wide = lb.make_round([2.0, 2.0, 2.0, 1.75, 1.25], [0, 0, 1, 1, 2], band=0.35)
    assert wide.lower.tolist() == pytest.approx([1.95] * 3)
    assert wide.upper.tolist() == pytest.approx([4.05] * 3)
    steps, share = greedy(wide)
    assert steps.step()  # 4 and 3.75 are in the band: a whole 2 of server 0, not 1.75 of 1
    assert share[:, 0].tolist() == [0.0, 0.0, 1.0]
    assert not steps.step()


def test_no_shard_goes_to_a_server_that_drains_or_has_no_memory() -> None:
    problem = lb.make_round(
        [6.0, 4.0, 2.0, 5.0, 1.0], [0, 0, 0, 1, 2], band=0.5, memory=[5.0, 5.0, 1.0]
    )
    steps, share = greedy(problem)
    assert steps.step()  # to server 1, which has 4 of room: the 4
    assert share[1].tolist() == [0, 1, 0, 1, 0]
    drained = lb.make_round([6.0, 4.0, 2.0], [0, 0, 1], drain=["1"], servers=3, band=0.9)
    found = lb.estore(drained)
    assert found.loads[1] == 0.0
    assert found.violation < 1e-9
    full = lb.make_round([6.0, 4.0, 2.0], [0, 0, 1], band=0.1, memory=[2.0, 1.0])
    with pytest.raises(EngineError, match="no server with memory to move to") as caught:
        lb.estore(full)
    assert caught.value.where == "E-Store greedy"


def test_memory_is_that_of_footprints_and_a_replica_that_is_there_takes_none() -> None:
    """Server 1 has room for a footprint of 1, and holds a part of shard 0."""
    placed = np.array([[0.75, 1.0, 1.0, 0.0], [0.25, 0.0, 0.0, 1.0]])
    problem = lb.make_round(
        [8.0, 3.0, 4.0, 1.0], placed, band=0.25, footprint=[4.0, 1.0, 2.0, 1.0], memory=[9.0, 6.0]
    )
    steps, share = greedy(problem)
    # 13 and 3, in 6..10: 7 of room, 7 to spare. The 6 of shard 0 is the hottest and there already.
    assert steps.step()
    assert share[:, 0].tolist() == [0.0, 1.0]
    assert steps._used.tolist() == [3.0, 5.0]
    assert steps._total.tolist() == [7.0, 9.0]
    assert not steps.step()
    # Without a part of it there, the 3 is all that fits the memory.
    other = np.array([[1.0, 1.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
    problem = lb.make_round(
        [6.0, 3.0, 4.0, 3.0], other, band=0.25, footprint=[4.0, 1.0, 2.0, 1.0], memory=[9.0, 2.0]
    )
    steps, share = greedy(problem)
    assert steps.step()
    assert share[1].tolist() == [0.0, 1.0, 0.0, 1.0]
    assert steps._used.tolist() == [6.0, 2.0]


def test_homeless_shards_go_one_by_one_to_the_server_with_most_room() -> None:
    placed = np.array([[1.0, 0, 0, 0], [0.0, 0, 0, 0], [0.0, 0, 0, 0]])
    problem = lb.make_round([1.0, 6.0, 5.0, 3.0], placed, band=0.5, weight=[1, 2, 2], drain=["0"])
    share = shares_of(problem)
    _place_homeless(problem, share)
    # 11.25 of room each on 1 and 2: 6 to 1, 5 to 2, and 3 to 2 where 6.25 are left.
    assert share.argmax(axis=0).tolist() == [0, 1, 2, 2]
    assert share.sum(axis=0).tolist() == [1.0] * 4
    taken = lb.make_round([9.0, 6.0, 5.0], np.array([[1, 0, 0], [0, 0, 0.0]]), band=0.5)
    share = shares_of(taken)
    _place_homeless(taken, share)
    assert share.argmax(axis=0).tolist() == [0, 1, 1]  # 6 of 15 - 9, and then 9 of 15 - 6


@pytest.mark.parametrize(("servers", "parts"), [(7, 3), (8, 2), (5, 5), (6, 1), (5, 4)])
def test_servers_are_dealt_to_parts_of_even_load_and_number(servers: int, parts: int) -> None:
    """Fullest first, to the part with least load of those not yet full."""
    problem = drawn_round(servers, servers, 6 * servers)
    found = _even_parts(problem, parts, 3)
    assert sorted(np.concatenate(found).tolist()) == list(range(servers))
    most = -(-servers // parts)
    assert max(len(part) for part in found) <= most
    now = problem.loads_now()
    mine: list[list[int]] = [[] for _ in range(parts)]
    for i in np.argsort(-now, kind="stable").tolist():
        open_ = [k for k in range(parts) if len(mine[k]) < most]
        best = min(open_, key=lambda k: sum(now[i] for i in mine[k]))
        mine[best].append(i)
    assert len(set(now)) == servers  # no ties, so that the seed has no say
    assert [part.tolist() for part in found] == [sorted(part) for part in mine if part]


def test_a_part_that_is_full_gets_no_more_servers() -> None:
    """10 by itself is more than the others together; they are two parts of two all the same."""
    problem = lb.make_round([10.0, 1.1, 1.2, 1.3], [0, 1, 2, 3], band=5.0)
    assert [part.tolist() for part in _even_parts(problem, 2, 0)] == [[0, 1], [2, 3]]


def test_what_a_server_carries_nothing_of_is_not_its_parts() -> None:
    problem = lb.make_round([4.0, 2.0], [0, 1], band=0.5)
    problem = replace(
        problem,
        server=np.array([0, 0, 1], np.int32),
        shard=np.array([0, 1, 1], np.int32),
        share=np.array([1.0, 0.0, 1.0]),
    )
    part, shards = _part(problem, np.array([0], np.int32))
    assert shards.tolist() == [0]
    assert part.load.tolist() == [4.0]


def test_a_program_has_a_minute_where_nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, limits = drawn_round(4, 4, 20, band=0.2), []

    def plain(problem: lb.Round, time_limit: float | None) -> None:
        limits.append(time_limit)

    monkeypatch.setattr(baselines, "_plain", plain)
    lb.pop_rebalance(problem, 2)
    with pytest.raises(EngineError):
        lb.plain_program(problem)
    assert limits == [60.0] * 3


def test_servers_of_the_same_load_are_dealt_by_the_seed() -> None:
    problem = lb.make_round(np.ones(12), np.arange(12), band=0.5)
    found = {tuple(map(tuple, _even_parts(problem, 3, seed))) for seed in range(5)}
    assert len(found) == 5
    assert len({tuple(map(tuple, _even_parts(problem, 3, 4))) for _ in range(2)}) == 1


def test_a_part_has_its_servers_what_they_carry_and_a_band_within_the_wholes() -> None:
    """Servers 1 and 3 carry 2 + 3 of 5 and 7 of 9: together 12 beside targets of 10."""
    placed = np.array([[1, 0.4, 0, 0], [0, 0.6, 0, 2 / 9], [0, 0, 1, 0], [0, 0, 0, 7 / 9.0]])
    problem = lb.make_round(
        [1.0, 5.0, 5.0, 9.0],
        placed,
        band=0.5,
        weight=[1, 1, 1, 1],
        memory=[1, 2, 3, 4],
        footprint=[5.0, 6.0, 7.0, 8.0],
        cost=[1.0, 2.0, 3.0, 4.0],
        zone=list("abcd"),
        replicas=[1, 2, 1, 2],
        servers=list("wxyz"),
    )
    part, shards = _part(problem, np.array([1, 3], np.int32))
    assert shards.tolist() == [1, 3]
    assert part.load.tolist() == pytest.approx([3.0, 9.0])
    assert part.held.tolist() == [[True, True], [False, True]]
    assert part.loads_now().tolist() == pytest.approx([5.0, 7.0])
    assert part.memory.tolist() == [2.0, 4.0]
    assert part.footprint.tolist() == [6.0, 8.0]
    assert part.cost.tolist() == [2.0, 4.0]
    assert part.zone.tolist() == [1, 3]
    assert part.replicas is not None
    assert part.replicas.tolist() == [2, 2]
    assert (part.server_names, part.shard_names) == (("x", "z"), ("1", "3"))
    # Each server's band, 2.5 to 7.5, beside a mean of 6: the narrower side, 1.5 of 6.
    assert part.band == pytest.approx(0.25)
    assert part.upper.tolist() == pytest.approx([7.5, 7.5])
    less, _ = _part(problem, np.array([0, 2], np.int32))  # 3 and 5, a mean of 4: 1.5 of 4
    assert less.band == pytest.approx(0.375)
    assert less.lower.tolist() == pytest.approx([2.5, 2.5])
    alone, _ = _part(problem, np.array([0], np.int32))  # 3 of at least 2.5
    assert alone.band == pytest.approx(0.5 / 3)
    assert _part(problem.with_band(0.001), np.array([0], np.int32))[0].band == 0.01


@pytest.mark.parametrize("parts", [1, 2, 4])
def test_pop_meets_the_band_and_moves_no_less_than_the_bound(parts: int) -> None:
    problem = drawn_round(4, 4, 20, band=0.2)
    found = lb.pop_rebalance(problem, parts, time_limit=5.0)
    assert found.violation < 1e-6
    assert found.moves >= lb.counting_bound(problem).value
    assert found.method.startswith(f"POP-{parts} (")
    assert found.attempts == 0
    if parts == 1:
        assert found.moves == lb.plain_program(problem, time_limit=5.0).moves


def test_a_part_without_a_placement_in_time_is_left_to_the_greedy() -> None:
    problem = drawn_round(4, 4, 20, band=0.2)
    found = lb.pop_rebalance(problem, 1, time_limit=0.0)
    assert found.violation < 1e-9
    np.testing.assert_allclose(found.shares, lb.estore(problem).shares, atol=1e-12)
    # In time, the program's three moves are made and not the greedy's six.
    problem = drawn_round(1, 4, 12, band=0.1)
    assert lb.estore(problem).moves > lb.plain_program(problem).moves
    assert lb.pop_rebalance(problem, 1).moves == lb.plain_program(problem).moves


def test_what_a_shift_leaves_but_for_rounding_goes_along() -> None:
    problem = lb.make_round([6.0, 4.0, 2.0], [0, 0, 1], band=0.5)
    steps, share = greedy(problem)
    steps._shift(0, 1, 0, 6.0 * (1.0 - 2.0**-32))
    assert share[:, 0].tolist() == [0.0, 1.0]
    assert steps._used.tolist() == [1.0, 2.0]
    steps._shift(0, 1, 1, 4.0 * (1.0 - 2.0**-20))  # this much is a part
    assert share[:, 1].tolist() == [2.0**-20, 1.0 - 2.0**-20]
    assert steps._used.tolist() == [1.0, 3.0]


def test_the_number_of_parts_is_from_1_to_that_of_servers() -> None:
    problem = drawn_round(4, 4, 20, band=0.2)
    for parts in (0, 5, 1.5):
        with pytest.raises(InputError, match="parts"):
            lb.pop_rebalance(problem, parts)  # type: ignore[arg-type]


def test_a_program_without_time_is_an_error() -> None:
    problem = drawn_round(3, 6, 60, band=0.01)
    with pytest.raises(EngineError, match="no placement yet") as caught:
        lb.plain_program(problem, time_limit=0.0)
    assert caught.value.where == "time limit 0.0"


def test_the_plain_program_is_exact() -> None:
    problem = drawn_round(0, 3, 6, band=0.2, memory=6.0)
    found = lb.plain_program(problem)
    best = lb.solve_round(problem)
    assert found.value == best.value
    assert found.method == "plain program"
    assert found.violation < 1e-9


@pytest.mark.parametrize(("cost", "status"), [(1.0, Status.OPTIMAL), (2.0, Status.FEASIBLE)])
def test_a_baseline_is_optimal_where_its_cost_is_the_bound(cost: float, status: Status) -> None:
    """8 and 4 in a band of 0.1 need one move; two are made at the cost of two."""
    problem = lb.make_round([4.0, 4.0, 4.0], [0, 0, 1], band=0.1, cost=[1.0, 1.0, 1.0])
    assert lb.counting_bound(problem).value == 1.0
    replicas: list[Any] = [(0, 0, 1.0), (0, 1, 0.5), (1, 1, 0.5), (1, 2, 1.0)]
    if cost == 2.0:
        replicas = [(0, 0, 1.0), (1, 1, 1.0), (0, 2, 0.5), (1, 2, 0.5)]
    server, shard, share = zip(*replicas, strict=True)
    found = _rebalanced(
        problem, np.array(server, np.int32), np.array(shard, np.int32), np.array(share), "x", 0.0
    )
    assert (found.value, found.bound, found.status) == (cost, 1.0, status)
    assert found.load.tolist() == [4.0 * part for part in share]
    assert found.seconds > 0.0

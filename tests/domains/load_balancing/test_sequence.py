"""The sequence of POP and DeDe: loads as published, moves as counted there, never infeasible."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from walras import data
from walras.domains import load_balancing as lb
from walras.domains.load_balancing.sequence import counted_moves, published_rounds
from walras.progress import counts
from walras.status import Status

PUBLISHED = 20.1  # moves a round of DeDe; the exact solution of each round by itself: 20.9


def play(rounds: int, *, keep: bool, servers: int = 256, shards: int = 2048) -> lb.Rounds:
    u = data.load("lb_random").numbers[:rounds]
    first = lb.first_round(u[0], servers=servers, shards=shards)
    return lb.play(first, u, partial(lb.solve_round, options=lb.Options(keep=keep)))


def test_loads_fall_as_a_power_of_the_rank() -> None:
    load = lb.round_loads(2048, 0.5)
    assert load[0] == 100.0
    assert load[2] == pytest.approx(100.0 / np.sqrt(2.0), abs=5e-5)
    np.testing.assert_allclose(np.round(load * 1e4), load * 1e4, rtol=1e-14)


def test_the_published_rounds_are_those_of_play_and_stop_before_the_baseline() -> None:
    u = data.load("lb_random").numbers[:2]
    kept, greedy = published_rounds(u, size=(8, 64), options=lb.Options(attempts=50), baseline=True)
    first = lb.first_round(float(u[0]), servers=8, shards=64)
    alone = lb.play(first, u, partial(lb.solve_round, options=lb.Options(attempts=50)))
    assert [r.moves for r in kept.rounds] == [r.moves for r in alone.rounds]
    assert [r.moves for r in greedy.rounds] == [
        r.moves for r in lb.play(first, u, lb.estore).rounds
    ]
    (stopped,) = published_rounds(
        u,
        size=(8, 64),
        options=lb.Options(attempts=5),
        baseline=True,
        on_progress=lambda step: True,
    )
    assert (len(stopped.rounds), stopped.status) == (1, Status.INTERRUPTED)


def test_moves_are_counted_above_a_load() -> None:
    def held(pairs: list[tuple[int, int]], loads: list[float]) -> tuple[np.ndarray, ...]:
        server, shard = np.array(pairs, dtype=np.int32).T
        return server, shard, np.array(loads)

    before = held([(0, 0), (1, 1), (0, 1)], [1.0, 1.0, 1e-7])
    after = held([(0, 0), (1, 0), (0, 1)], [0.5, 1e-4, 0.5])
    assert counted_moves(before, after, 2, 1e-6) == 2  # type: ignore[arg-type]
    assert counted_moves(before, after, 2, 1e-3) == 1  # type: ignore[arg-type]


@pytest.mark.real_data("lb_random")
@pytest.mark.parametrize("keep", [True, False])
def test_ten_rounds_are_feasible_and_near_their_bound(keep: bool) -> None:
    played = play(10, keep=keep)
    frame = played.frame()
    assert frame["violation"].max() < 1e-9
    assert frame["lowest"].min() >= 0.9 - 1e-9
    assert frame["highest"].max() <= 1.1 + 1e-9
    assert frame["moves"][0] == frame["bound"][0] == 146
    assert (frame["moves"] >= frame["bound"]).all()
    assert (frame["moves_stricter"] == frame["moves"]).all()
    assert frame["moves"].sum() <= 1.1 * frame["bound"].sum()
    assert played.last is not None
    assert lb.evaluate(played.last.problem, played.last.shares).violation < 1e-9


@pytest.mark.long
@pytest.mark.real_data("lb_random")
@pytest.mark.parametrize("keep", [True, False])
def test_a_hundred_rounds_move_less_than_published(keep: bool) -> None:
    played = play(100, keep=keep)
    assert played.frame()["violation"].max() < 1e-9
    assert played.mean_moves() <= PUBLISHED
    assert played.mean_moves(stricter=True) <= PUBLISHED


def test_baselines_are_feasible_and_move_more() -> None:
    u = data.load("lb_random").numbers[:3]
    first = lb.first_round(u[0], servers=16, shards=128)
    ours = lb.play(first, u).frame()
    for policy in (
        lb.estore,
        partial(lb.pop_rebalance, parts=4, time_limit=2.0),
    ):
        theirs = lb.play(first, u, policy).frame()
        assert theirs["violation"].max() < 1e-6
        assert (theirs["moves"] >= theirs["bound"]).all()
        assert theirs["moves"].sum() >= ours["moves"].sum()


def test_pop_needs_a_number_of_parts_that_there_are_servers_for() -> None:
    first = lb.first_round(0.5, servers=4, shards=8)
    with pytest.raises(Exception, match="setting parts"):
        lb.pop_rebalance(first, 5)


def test_the_first_rounds_shards_stand_in_turn() -> None:
    first = lb.first_round(0.5, servers=3, shards=7)
    assert first.server.tolist() == [0, 1, 2, 0, 1, 2, 0]
    assert first.shard.tolist() == list(range(7))
    assert first.band == 0.1
    assert first.memory.tolist() == [16.0] * 3
    expected = [round(1e6 * (1024 * j / 7 + 1) ** -0.5) / 1e4 for j in range(7)]
    assert first.load.tolist() == pytest.approx(expected, rel=1e-15)
    paper = lb.first_round(0.0)
    assert (paper.servers, paper.shards) == (256, 2048)
    assert lb.round_loads(4, 0.0)[1] == round(1e6 * 257**-0.25) / 1e4


def test_each_round_begins_where_the_policy_left_the_last() -> None:
    u = [0.2, 0.8, 0.5]
    first = lb.first_round(u[0], servers=4, shards=12)
    seen: list[lb.Round] = []
    results: list[lb.Rebalanced] = []
    steps: list[tuple[int, int]] = []

    def policy(problem: lb.Round) -> lb.Rebalanced:
        seen.append(problem)
        results.append(lb.estore(problem))
        return results[-1]

    played = lb.play(first, u, policy, "greedy", counts(lambda *step: steps.append(step)))
    assert steps == [(1, 3), (2, 3), (3, 3)]
    assert played.last is results[2]
    assert seen[0] is first
    for k in (1, 2):
        np.testing.assert_array_equal(seen[k].load, lb.round_loads(12, u[k]))
        assert (seen[k].held == results[k - 1].placement).all()
        np.testing.assert_allclose(
            seen[k].share * results[k - 1].problem.load[seen[k].shard],
            results[k - 1].shares[seen[k].server, seen[k].shard]
            * results[k - 1].problem.load[seen[k].shard],
        )
    for k, record in enumerate(played.rounds):
        result = results[k]
        relative = result.loads / result.problem.target
        assert record.index == k
        assert record.moves == record.moves_stricter == result.moves
        assert record.bound == result.bound
        assert record.replicas == len(result.server)
        assert (record.lowest, record.highest) == (relative.min(), relative.max())
        assert record.violation == result.violation
        assert record.seconds >= result.seconds > 0.0
    frame = played.frame()
    assert frame.columns[0] == "policy"
    assert frame["policy"].tolist() == ["greedy"] * 3
    assert frame["index"].tolist() == [0, 1, 2]


def test_means_leave_out_the_warm_up_where_there_is_more() -> None:
    def record(index: int, moves: int, stricter: int) -> lb.RoundRecord:
        return lb.RoundRecord(index, moves, stricter, 0.0, 0.1, 5, 1.0, 1.0, 0.0)

    rounds = lb.Rounds("x", tuple(record(k, 10 * k, k) for k in range(22)))
    assert rounds.mean_moves() == (200 + 210) / 2
    assert rounds.mean_moves(stricter=True) == (20 + 21) / 2
    assert rounds.mean_moves(warm_up=0) == 105.0
    short = lb.Rounds("x", rounds.rounds[:20])
    assert short.mean_moves() == 95.0


def test_what_carries_just_the_limit_is_not_placed() -> None:
    server, shard = np.array([0, 1], np.int32), np.array([1, 0], np.int32)
    none = np.zeros(0, np.int32)
    after = server, shard, np.array([1e-6, 2e-6])
    assert counted_moves((none, none, np.zeros(0)), after, 2, 1e-6) == 1


def test_what_a_first_round_carries_is_its_part_of_the_load() -> None:
    """0.0005 of shard 1 on server 0 is below the stricter limit before, and above it after."""
    placed = np.array([[1.0, 0.005], [0.0, 0.995]])
    problem = lb.make_round([1.0, 0.1], placed, band=1.0)

    def policy(problem: lb.Round) -> lb.Rebalanced:
        return lb.Rebalanced(
            problem,
            np.array([0, 0], np.int32),
            np.array([0, 1], np.int32),
            np.array([1.0, 0.1]),
            0.0,
            Status.LIMIT,
            0.0,
            0,
            "",
        )

    (record,) = lb.play(problem, [0.5], policy).rounds
    assert (record.moves, record.moves_stricter) == (0, 1)

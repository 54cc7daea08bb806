"""Rebalancing: feasible by an independent check, few moves, a bound that brute force confirms."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.domains.load_balancing.rounds import drawn_round, least_moves, rounds

import walras as wl
from walras.domains import load_balancing as lb
from walras.progress import Progress
from walras.status import Status


@settings(max_examples=60)
@given(problem=rounds(), keep=st.booleans())
def test_every_placement_is_feasible_and_its_moves_are_those_counted(
    problem: lb.Round, keep: bool
) -> None:
    found = lb.solve_round(problem, lb.Options(keep=keep, attempts=200, time_limit=0.3))
    judged = lb.evaluate(problem, found.shares, found.placement)
    assert judged.violation < 1e-9
    assert found.violation < 1e-9
    assert judged.moves == found.moves == len(found.transfers)
    assert judged.cost == pytest.approx(found.value)
    assert found.bound <= found.value
    np.testing.assert_allclose(judged.loads, found.loads)
    # A new replica is put to use: it carries something, from where the shard was.
    for move in found.transfers:
        assert move.load > 0.0
        source = problem.server_names.index(move.source)
        assert problem.held[source, problem.shard_names.index(move.shard)]


@pytest.mark.parametrize("seed", range(12))
def test_moves_and_bound_agree_with_trying_everything(seed: int) -> None:
    problem = drawn_round(seed, 3, 5, band=0.2, memory=5.0)
    least = least_moves(problem, 4)
    assert least is not None
    found = lb.solve_round(problem)
    assert found.moves == least
    assert found.bound == least
    assert lb.counting_bound(problem).value <= least
    assert found.status is Status.OPTIMAL


@pytest.mark.parametrize("seed", range(4))
def test_the_counting_bound_is_below_what_highs_finds(seed: int) -> None:
    problem = drawn_round(seed + 50, 5, 16, band=0.08)
    exact = lb.plain_program(problem, time_limit=20.0)
    found = lb.solve_round(problem)
    assert lb.counting_bound(problem).value <= exact.moves
    assert found.bound <= exact.moves
    assert found.moves <= exact.moves
    assert lb.evaluate(problem, exact.shares).violation < 1e-6


@settings(max_examples=30)
@given(problem=rounds())
def test_a_feasible_placement_with_unchanged_loads_moves_nothing(problem: lb.Round) -> None:
    once = lb.solve_round(problem, lb.Options(attempts=100, time_limit=5.0))
    again = lb.solve_round(once.next_round(problem.load))
    assert (again.moves, again.bound, again.value) == (0, 0.0, 0.0)
    np.testing.assert_allclose(again.shares, once.shares, atol=1e-9)


@settings(max_examples=30)
@given(problem=rounds(), seed=st.integers(0, 1000))
def test_relabelling_the_servers_changes_nothing(problem: lb.Round, seed: int) -> None:
    order = np.random.default_rng(seed).permutation(problem.servers)
    shares = np.zeros((problem.servers, problem.shards))
    shares[problem.server, problem.shard] = problem.share
    other = lb.make_round(
        problem.load,
        shares[order],
        band=problem.band,
        memory=problem.memory[order],
        weight=problem.weight[order],
        servers=[problem.server_names[i] for i in order],
        drain=[problem.server_names[i] for i in np.flatnonzero(problem.drain)],
    )
    options = lb.Options(attempts=100, time_limit=5.0)
    found, relabelled = lb.solve_round(problem, options), lb.solve_round(other, options)
    assert found.moves == relabelled.moves
    assert found.bound == pytest.approx(relabelled.bound)
    assert sorted(found.loads) == pytest.approx(sorted(relabelled.loads), rel=1e-6)


def test_the_names_of_the_issue() -> None:
    loads = [8.0, 1.0, 1.0, 2.0]
    r = wl.domains.load_balancing.rebalance(loads, [0, 0, 1, 1], band=0.1, memory=16)
    assert r.shares.shape == (2, 4)
    assert r.moves == r.bound == 1
    assert r.loads == pytest.approx([6.0, 6.0], rel=0.1)
    assert r.transfers[0].source == "0"
    assert r.frame().columns.tolist() == ["shard", "source", "target", "load"]
    assert "1 moves, cost 1, bound 1" in str(r)


def test_the_cost_of_moving_is_weighed() -> None:
    # The hot shard alone would do, but it is dear: two cheap ones go.
    loads, home = [5.0, 2.5, 2.5, 1.0], [0, 0, 0, 1]
    cheap = lb.rebalance(loads, home, band=0.1)
    assert [m.shard for m in cheap.transfers] == ["0"]
    dear = lb.rebalance(loads, home, band=0.1, cost=[5.0, 1.0, 1.0, 1.0])
    assert {m.shard for m in dear.transfers} == {"1", "2"}
    assert dear.value == dear.bound == 2.0


def test_a_draining_server_ends_empty() -> None:
    found = lb.rebalance(np.ones(12), np.arange(12) % 4, drain=["2"], band=0.2)
    assert found.loads[2] == 0.0
    assert not found.placement[2].any()
    assert found.moves == found.bound == 3


def test_targets_follow_the_servers_weights() -> None:
    found = lb.rebalance(np.ones(30), np.arange(30) % 3, weight=[1.0, 2.0, 3.0], band=0.05)
    assert found.loads == pytest.approx([5.0, 10.0, 15.0], rel=0.05)


def test_a_new_shard_finds_a_place_and_has_no_source() -> None:
    placed = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    found = lb.rebalance([2.0, 1.0, 1.0], placed, band=0.1)
    assert found.moves == found.bound == 1
    assert (found.transfers[0].source, found.transfers[0].target) == ("", "1")


def test_a_server_over_its_memory_gives_shards_away() -> None:
    found = lb.rebalance(np.ones(8), [0] * 5 + [1] * 3, band=0.5, memory=4)
    assert found.moves == found.bound == 1
    assert lb.evaluate(found.problem, found.shares).violation < 1e-9


@pytest.mark.parametrize(("replicas", "moves"), [(1, 0), (2, 12)])
def test_replicas_fixed_in_number(replicas: int, moves: int) -> None:
    found = lb.rebalance(np.ones(12), np.arange(12) % 4, band=0.1, replicas=replicas)
    assert (found.placement.sum(axis=0) == replicas).all()
    assert found.moves == found.bound == moves


def test_shards_with_one_replica_move_whole() -> None:
    found = lb.rebalance([4.0, 3.0, 2.0, 1.0], [0, 0, 0, 1], band=0.25, replicas=1)
    assert sorted(found.shares.max(axis=0)) == [1.0] * 4
    assert found.moves == found.bound == 1


def test_replicas_spread_over_zones() -> None:
    found = lb.rebalance(
        np.ones(10), np.arange(10) % 4, band=0.2, spread=2, zone=["a", "a", "b", "b"]
    )
    zones = np.array([found.placement[:2].any(axis=0), found.placement[2:].any(axis=0)])
    assert zones.all()
    assert found.moves == found.bound == 10
    assert lb.evaluate(found.problem, found.shares, found.placement).violation < 1e-9


def test_idle_replicas_are_kept_or_dropped_as_asked() -> None:
    placed = np.array([[1.0, 1.0, 0.0], [1.0, 0.0, 1.0]])
    problem = lb.make_round([1.0, 1.5, 1.5], placed, band=0.3)
    kept = lb.solve_round(problem)
    assert kept.placement.sum() == 4
    assert kept.load.min() > 1e-6
    dropped = lb.solve_round(problem, lb.Options(keep=False))
    assert dropped.placement.sum() == 3
    assert kept.moves == dropped.moves == 0


def test_a_time_limit_and_a_callback_stop_the_search() -> None:
    problem = drawn_round(3, 40, 200, band=0.03)
    seen: list[float] = []

    def stop(step: Progress) -> bool:
        seen.append(step.value)
        return True

    found = lb.solve_round(problem, lb.Options(attempts=10**6, on_progress=stop))
    assert len(seen) <= 1
    assert lb.evaluate(problem, found.shares).violation < 1e-9
    limited = lb.solve_round(problem, lb.Options(attempts=10**6, time_limit=0.2))
    assert limited.seconds < 5.0


def test_the_same_seed_gives_the_same_placement() -> None:
    problem = drawn_round(8, 30, 150, band=0.03)
    first, again = (lb.solve_round(problem, lb.Options(seed=5)) for _ in range(2))
    assert np.array_equal(first.shares, again.shares)

"""Placements of many shards: within all limits, with a bound, near the proved least."""

from __future__ import annotations

from importlib import import_module
from itertools import product
from typing import Any

import numpy as np
import pytest
from benchmarks.balancing_at_scale import drawn
from hypothesis import given, settings
from hypothesis import strategies as st

from walras.domains import load_balancing as lb
from walras.domains.load_balancing.bound import departing
from walras.domains.load_balancing.relocation import relocate_shards
from walras.errors import EngineError, InfeasibleError, InputError
from walras.status import Status


def drawn_whole(seed: int, servers: int, shards: int, **options: Any) -> lb.Round:
    """Shards with one replica each, of uneven load, size and cost."""
    rng = np.random.default_rng(seed)
    given = {
        "band": 0.4,
        "footprint": rng.choice([1.0, 2.0, 3.0], shards),
        "cost": rng.choice([1.0, 2.0, 5.0], shards),
        "memory": 3.0 * shards / servers,
        "replicas": 1,
        "servers": servers,
    }
    load = np.round(rng.uniform(0.5, 3.0, shards), 3)
    return lb.make_round(load, rng.integers(0, servers, shards), **{**given, **options})


def least_cost(problem: lb.Round) -> float:
    """The least cost of moving whole shards, over all assignments."""
    best, shards = np.inf, np.arange(problem.shards)
    room = np.where(problem.drain, 0.0, problem.memory)
    stays = problem.server[np.argsort(problem.shard)]
    for home in product(range(problem.servers), repeat=problem.shards):
        at = np.array(home)
        total = np.bincount(at, problem.load, problem.servers)
        used = np.bincount(at, problem.footprint, problem.servers)
        within = np.all(total >= problem.lower - 1e-9) and np.all(total <= problem.upper + 1e-9)
        if within and np.all(used <= room + 1e-9):
            best = min(best, float(problem.cost[shards[at != stays]].sum()))
    return best


@pytest.mark.parametrize("seed", range(12))
def test_bounds_are_below_and_costs_above_the_best_of_all_assignments(seed: int) -> None:
    problem = drawn_whole(seed, 3, 7, drain=["2"] if seed % 3 == 0 else [])
    least = least_cost(problem)
    assert departing(problem) <= least + 1e-9
    assert lb.counting_bound(problem).value <= least + 1e-9
    placed = relocate_shards(problem)
    assert placed.cost >= least - 1e-9
    if np.isfinite(least):
        found = lb.solve_round(problem)  # HiGHS goes on from what the moves came to
        assert found.value == pytest.approx(least)
        assert found.violation < 1e-9


@st.composite
def rounds(draw: st.DrawFn) -> lb.Round:
    """Rounds with zones, drains, memory, and a fixed or free number of replicas."""
    seed, servers = draw(st.integers(0, 10**6)), draw(st.integers(6, 12))
    replicas = draw(st.sampled_from([None, 1, 2, 3]))
    rng = np.random.default_rng(seed)
    shards = 12 * servers
    home = rng.integers(0, servers, shards)
    spread = draw(st.integers(1, min(2, replicas or 2)))
    return lb.make_round(
        np.minimum(rng.pareto(2.5, shards), 4.0) + 1.0,
        home,
        servers=servers,
        band=0.3,
        footprint=rng.uniform(0.5, 2.0, shards),
        memory=2.2 * max(replicas or 1, spread) * shards / servers,
        weight=rng.choice([1.0, 1.5], servers),
        zone=[i % 3 for i in range(servers)],
        spread=spread,
        replicas=replicas,
        drain=[int(rng.integers(servers))] if draw(st.booleans()) else [],
    )


@settings(max_examples=60)
@given(problem=rounds())
def test_placements_keep_memory_zones_numbers_and_drains(problem: lb.Round) -> None:
    placed = relocate_shards(problem)
    assert np.isfinite(placed.cost)
    shares = np.zeros((problem.servers, problem.shards))
    shares[placed.server, placed.shard] = placed.load / problem.load[placed.shard]
    held = np.zeros(shares.shape, dtype=np.bool_)
    held[placed.server, placed.shard] = True
    judged = lb.evaluate(problem, shares, held)
    assert judged.violation < 1e-9
    assert judged.cost == pytest.approx(placed.cost)
    assert not held[problem.drain].any()
    assert lb.counting_bound(problem).value <= placed.cost + 1e-9


@pytest.mark.parametrize("kind", ["whole", "zoned"])
def test_cold_drifting_and_draining_rounds_end_within_one_percent(kind: str) -> None:
    cold, drift = drawn(kind, 20_000, 200, "moves", 0)
    found = lb.solve_round(cold)
    again = lb.solve_round(found.next_round(drift.load))
    drained = lb.solve_round(again.next_round(drain=["7"]))
    for one in (found, again, drained):
        assert one.violation < 1e-9
        assert one.bound <= one.value <= one.bound * 1.01 + 1e-9
    assert drained.loads[7] == 0.0
    assert not (drained.server == 7).any()
    assert drained.moves >= int((again.server == 7).sum())


def test_too_many_replicas_go_and_missing_ones_come() -> None:
    held = np.zeros((6, 30))
    held[:3, :15] = 1.0  # three each; the others have none
    found = lb.rebalance(
        np.ones(30), held, band=0.3, replicas=2, spread=2, zone=list("aabbcc"), memory=16
    )
    assert found.violation < 1e-9
    assert found.moves >= found.bound >= 30.0


def test_hot_shards_are_split_where_the_number_of_replicas_is_free() -> None:
    problem = lb.make_round(np.r_[30.0, np.ones(70)], np.arange(71) % 10, band=0.2, servers=10)
    placed = relocate_shards(problem)
    total = np.bincount(placed.server, placed.load, 10)
    assert np.all(total <= problem.upper + 1e-9)
    assert np.all(total >= problem.lower - 1e-9)
    assert np.bincount(placed.shard)[0] >= 3


def test_a_hook_hears_of_rounds_and_may_stop_them() -> None:
    problem = drawn_whole(1, 20, 400, memory=np.inf)
    heard: list[int] = []

    def stop(rounds: int, cost: float) -> bool:
        heard.append(rounds)
        return False

    relocate_shards(problem, stop)
    assert heard == [1]


def test_a_million_pairs_without_a_placement_say_so_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for module, name in (("rebalance", "MANY"), ("rebalance", "SMALL"), ("feasibility", "MANY")):
        monkeypatch.setattr(import_module(f"walras.domains.load_balancing.{module}"), name, 1)
    # Shards of 3 units of memory cannot fill servers of 4: one of four servers gets none.
    with pytest.raises(EngineError, match="no placement was found"):
        lb.rebalance(np.ones(5), [0, 0, 1, 2, 3], band=0.1, memory=4, footprint=3.0, replicas=1)
    with pytest.raises(InfeasibleError, match="more memory, a wider band"):
        lb.rebalance(np.ones(5), [0, 0, 1, 2, 3], band=2.0, memory=1, replicas=2)


def test_a_next_round_drains_only_known_servers() -> None:
    found = lb.rebalance(np.ones(12), np.arange(12) % 4, band=0.3, replicas=1)
    assert found.status is Status.OPTIMAL
    later = found.next_round(drain=["3"])
    assert later.drain.tolist() == [False, False, False, True]
    assert np.array_equal(later.load, found.problem.load)
    assert not later.with_drain([]).drain.any()
    with pytest.raises(InputError, match="drain: there is no server 'x'"):
        found.next_round(drain=["x"])
    with pytest.raises(InputError, match="names every server"):
        found.next_round(drain=[0, 1, 2, 3])


def test_pairs_that_are_held_are_found_without_a_table_of_all_pairs() -> None:
    problem = drawn_whole(3, 5, 40)
    server, shard = np.divmod(np.arange(200, dtype=np.int32), np.int32(40))
    assert np.array_equal(problem.holds(server, shard), problem.held.ravel())
    nowhere = lb.make_round([1.0, 1.0], np.zeros((2, 2)), band=1.0)
    assert not nowhere.holds(np.zeros(1, np.int32), np.zeros(1, np.int32)).any()

"""The sequence of POP and DeDe: loads as published, moves as counted there, never infeasible."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from walras import data
from walras.domains import load_balancing as lb
from walras.domains.load_balancing.sequence import counted_moves

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

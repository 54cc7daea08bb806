"""The passes that move replicas between servers, on placements worked out by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from walras.kernels.local_search import flow, relocate
from walras.kernels.local_search.cover import make_items
from walras.kernels.local_search.tournament import Rules, make_tree


class Board:
    """Servers with limits, and shards on them."""

    def __init__(self, load: Any, home: Any, lower: Any, upper: Any, **options: Any) -> None:
        shards, servers = len(load), len(lower)
        self.limits = flow.Limits(
            np.asarray(lower, float),
            np.asarray(upper, float),
            np.asarray(options.get("memory", np.full(servers, 100.0)), float),
            np.asarray(options.get("footprint", np.ones(shards)), float),
            np.asarray(options.get("cost", np.ones(shards)), float),
            np.asarray(load, float),
            1e-12,
        )
        shard = np.asarray(options.get("shard", np.arange(shards)), np.int32)
        amount = np.asarray(options.get("amount", load), float)
        self.replicas = flow.make_replicas(
            np.asarray(home, np.int32), shard, amount, self.limits, 20
        )
        self.rules = Rules(np.arange(servers, dtype=np.int32), options.get("spread", 1))
        self.tree = make_tree(servers)
        slots = len(self.replicas.server)
        self.items, self.slots = make_items(slots), np.zeros(slots, np.int32)

    def at(self, i: int) -> list[int]:
        """The shards on a server."""
        live = (self.replicas.kind != flow.FREE) & (self.replicas.server == i)
        return sorted(self.replicas.shard[live].tolist())

    def release(self, *, splits: bool = False) -> list[tuple[int, float]]:
        shard, load = np.zeros(20, np.int32), np.zeros(20)
        count = relocate.release(
            self.replicas, self.limits, self.items, self.slots, 0.0, 1.0, splits, shard, load
        )
        return list(zip(shard[:count].tolist(), load[:count].tolist(), strict=True))

    def pull(self, *, splits: bool = False) -> int:
        spare = self.replicas.total - self.limits.lower
        left = relocate.pull(
            self.replicas,
            self.limits,
            self.rules,
            self.tree,
            self.items,
            self.slots,
            np.flatnonzero(spare > 0).astype(np.int32),
            np.flatnonzero(spare < 0).astype(np.int32),
            splits,
            1.0,
        )
        return int(left)


def test_the_cheapest_cover_of_the_excess_is_released() -> None:
    board = Board([5.0, 3.0, 1.0], [0, 0, 0], [0.0, 0.0], [6.5, 9.0])
    assert board.release() == [(1, 3.0)] or board.release() == [(0, 5.0)]
    dear = Board([5.0, 3.0, 1.0], [0, 0, 0], [0.0, 0.0], [6.5, 9.0], cost=[9.0, 9.0, 1.0])
    assert len(dear.release()) == 1
    small = Board([5.0, 3.0, 1.0], [0, 0, 0], [0.0, 0.0], [8.5, 9.0], cost=[9.0, 9.0, 1.0])
    assert small.release() == [(2, 1.0)]


def test_a_cover_leaves_the_server_its_least_load_where_that_costs_no_more() -> None:
    board = Board([8.0, 3.0, 1.0], [0, 0, 0], [9.0, 0.0], [11.0, 12.0])
    assert board.release() in ([(1, 3.0)], [(2, 1.0)])
    board = Board([8.0, 0.5, 0.5, 0.5], [0] * 4, [7.0, 0.0], [8.0, 12.0])
    assert board.release() == [(0, 8.0)]  # one move in place of three


def test_a_draining_server_releases_all_and_a_full_one_what_it_must() -> None:
    board = Board(
        [1.0, 2.0, 3.0],
        [0, 0, 1],
        [0.0, 0.0],
        [9.0, 9.0],
        memory=[-1.0, 2.0],
        footprint=[1.0, 1.0, 3.0],
    )
    assert sorted(board.release()) == [(0, 1.0), (1, 2.0), (2, 3.0)]
    assert board.replicas.total.tolist() == [0.0, 0.0]


def test_a_part_stays_where_loads_may_be_split() -> None:
    board = Board([10.0], [0], [4.0, 4.0], [6.0, 6.0])
    assert board.release(splits=True) == [(0, 6.0)]
    assert board.replicas.total.tolist() == [4.0, 0.0]


def test_a_server_in_need_pulls_what_costs_least_for_its_help() -> None:
    board = Board([5.0, 3.0, 4.0], [0, 0, 0], [2.0, 3.0], [20.0, 20.0], cost=[9.0, 1.0, 9.0])
    assert board.pull() == 0
    assert board.at(1) == [1]


def test_a_full_server_in_need_moves_something_of_little_load_out() -> None:
    board = Board(
        [1.0, 6.0, 6.0, 0.5],
        [0, 1, 1, 2],
        [5.0, 5.0, 0.0],
        [9.0, 14.0, 9.0],
        memory=[1.0, 9.0, 9.0],
    )
    assert board.pull() == 0
    assert board.at(0) in ([1], [2])
    assert np.all(board.replicas.used <= board.limits.memory)
    assert np.all(board.replicas.total >= board.limits.lower)


def test_a_server_that_nobody_can_help_stays_in_need() -> None:
    assert Board([1.0, 1.0], [0, 0], [2.0, 1.0], [3.0, 3.0]).pull() == 1


def test_what_need_not_have_moved_goes_home() -> None:
    board = Board([3.0, 2.0], [0, 1], [0.0, 0.0], [9.0, 9.0])
    flow.put(board.replicas, board.limits, 1, 0, 1.0, flow.NEW)  # idle beside its first replica
    start = np.array([0, 1, 2], np.int32)
    server = np.array([0, 1], np.int32)
    assert relocate.go_home(board.replicas, board.limits, board.rules, start, server) == 0
    away = Board([3.0, 2.0], [0, 1], [0.0, 0.0], [9.0, 9.0])
    away.replicas.kind[0] = flow.NEW  # shard 0 was on server 1
    moved = np.array([1, 1], np.int32)
    assert relocate.go_home(away.replicas, away.limits, away.rules, start, moved) == 1
    assert away.at(1) == [0, 1]
    full = Board([3.0, 2.0], [0, 1], [0.0, 0.0], [9.0, 4.0])
    full.replicas.kind[0] = flow.NEW
    assert relocate.go_home(full.replicas, full.limits, full.rules, start, moved) == 0


@pytest.mark.parametrize(("spread", "kept"), [(1, 1), (2, 2)])
def test_spares_are_dropped_for_memory_but_not_below_the_zones(spread: int, kept: int) -> None:
    board = Board(
        [4.0],
        [0, 1],
        [0.0, 0.0],
        [9.0, 9.0],
        shard=[0, 0],
        amount=[1.0, 3.0],
        memory=[0.5, 9.0],
        spread=spread,
    )
    relocate.drop_spares(board.replicas, board.limits, board.rules, board.items)
    assert int((board.replicas.kind != flow.FREE).sum()) == kept
    assert board.replicas.total.sum() == 4.0


def test_excess_counts_loads_and_memory_as_shares() -> None:
    board = Board([4.0, 6.0], [0, 1], [5.0, 0.0], [9.0, 5.0], memory=[9.0, 0.5])
    assert relocate.excess(board.replicas, board.limits) == pytest.approx(2.0 / 10.0 + 0.5 / 2.0)

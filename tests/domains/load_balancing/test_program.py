"""The mixed-integer program, row by row against its definition, and its columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.domains.load_balancing.rounds import drawn_round, least_moves

from walras.domains import load_balancing as lb
from walras.domains.load_balancing.bound import Bound, Cut, counting_bound
from walras.domains.load_balancing.program import (
    _Program,
    all_pairs,
    near_pairs,
    solve_pairs,
    without_costs,
)
from walras.domains.load_balancing.search import Placed
from walras.settings import Settings
from walras.status import Status

NO_CUTS = Bound(0.0, (), ())
SOON = Settings(1e-9, 10.0)


def round_(**options: Any) -> lb.Round:
    """Loads 6, 3, 2 and 1 on servers of weights 1 and 2: targets 4 and 8, in a band of a half."""
    given: dict[str, Any] = {
        "band": 0.5,
        "weight": [1.0, 2.0],
        "memory": [7.0, 9.0],
        "footprint": [1.0, 2.0, 3.0, 4.0],
        "cost": [1.0, 10.0, 100.0, 1000.0],
    }
    return lb.make_round([6.0, 3.0, 2.0, 1.0], [0, 0, 1, 1], **{**given, **options})


def rows_of(problem: lb.Round, bound: Bound = NO_CUTS, inside: float = 0.0) -> list[Any]:
    """(coefficients, lower, upper) of each row, with the unit of load taken out again."""
    stated = _Program(problem, all_pairs(problem), bound, inside).stated()
    dense = stated.matrix.toarray()
    return list(zip(dense, stated.row_lower, stated.row_upper, strict=True))


def assert_row(row: Any, coefficients: Any, lower: float, upper: float) -> None:
    found, low, high = row
    np.testing.assert_allclose(found, coefficients, rtol=1e-12, atol=0.0)
    assert low == pytest.approx(lower, rel=1e-8)
    assert high == pytest.approx(upper, rel=1e-8)


def at(size: int, values: dict[int, float]) -> np.ndarray:
    out = np.zeros(size)
    for k, value in values.items():
        out[k] = value
    return out


def test_rows_bound_loads_shares_links_memory_and_counts() -> None:
    """Columns: x of server 0's four shards, x of server 1's, then y alike. The mean load is 6."""
    rows = rows_of(round_())
    assert len(rows) == 2 + 4 + 8 + 2 + 4
    load = np.array([6.0, 3.0, 2.0, 1.0]) / 6.0
    assert_row(rows[0], np.r_[load, np.zeros(12)], 2 / 6, 6 / 6)
    assert_row(rows[1], np.r_[np.zeros(4), load, np.zeros(8)], 4 / 6, 12 / 6)
    for j in range(4):
        assert_row(rows[2 + j], at(16, {j: 1.0, 4 + j: 1.0}), 1.0, 1.0)
    # x <= u y, with u = 1 but where the load is above the server's largest; none is.
    for k in range(8):
        assert_row(rows[6 + k], at(16, {k: 1.0, 8 + k: -1.0}), -np.inf, 0.0)
    assert_row(rows[14], np.r_[np.zeros(8), 1, 2, 3, 4, np.zeros(4)], -np.inf, 7.0)
    assert_row(rows[15], np.r_[np.zeros(12), 1, 2, 3, 4], -np.inf, 9.0)
    for j in range(4):
        assert_row(rows[16 + j], at(16, {8 + j: 1.0, 12 + j: 1.0}), 1.0, np.inf)


def test_of_a_shard_too_large_for_a_server_a_part_fits() -> None:
    """Server 0 takes 4.4 of 6."""
    rows = rows_of(round_(band=0.1))
    assert_row(rows[6], at(16, {0: 1.0, 8: -4.4 / 6}), -np.inf, 0.0)
    assert_row(rows[10], at(16, {4: 1.0, 12: -1.0}), -np.inf, 0.0)
    assert_row(rows[7], at(16, {1: 1.0, 9: -1.0}), -np.inf, 0.0)


def test_bands_are_drawn_in_by_a_part_of_their_width() -> None:
    rows = rows_of(round_(), inside=0.25)
    assert (rows[0][1], rows[0][2]) == pytest.approx((3 / 6, 5 / 6))
    assert (rows[1][1], rows[1][2]) == pytest.approx((6 / 6, 10 / 6))


def test_replicas_fixed_in_number_are_fixed() -> None:
    rows = rows_of(round_(replicas=[1, 2, 1, 2]))
    assert [(low, high) for _, low, high in rows[16:20]] == [(1, 1), (2, 2), (1, 1), (2, 2)]


def test_new_replicas_cost_and_old_ones_do_not() -> None:
    stated = _Program(round_(), all_pairs(round_()), NO_CUTS, 0.0).stated()
    assert stated.cost.tolist() == [*[0.0] * 8, 0, 0, 100, 1000, 1, 10, 0, 0]
    assert stated.lower.tolist() == [0.0] * 16
    assert stated.upper.tolist() == [1.0] * 16
    assert stated.integer is not None
    assert stated.integer.tolist() == [False] * 8 + [True] * 8
    free = without_costs(round_())
    assert not free.held.any()
    stated = _Program(free, all_pairs(free), NO_CUTS, 0.0).stated()
    assert stated.cost.tolist() == [0.0] * 8 + [1, 10, 100, 1000] * 2


def test_cuts_are_rows_on_new_replicas_that_bring_in_or_take_out_a_need() -> None:
    """Each counts for its load, at most what the server takes and at most the need."""
    lacking = Cut(np.array([1], np.int32), np.array([2, 3], np.int32), 2.5)
    surplus = Cut(np.array([0], np.int32), np.array([0, 1], np.int32), 5.0)
    rows = rows_of(round_(), Bound(0.0, (lacking,), (surplus,)))
    assert len(rows) == 22
    assert_row(
        rows[20], at(16, {12: 2.5 / 6 * (1 - 1e-9), 13: 2.5 / 6 * (1 - 1e-9)}), 2.5 / 6, np.inf
    )
    assert_row(rows[21], at(16, {12: 5 / 6 * (1 - 1e-9), 13: 3 / 6}), 5 / 6, np.inf)


def test_in_a_cut_a_shard_counts_for_no_more_than_its_server_takes() -> None:
    """Server 0 takes 4.4 of shard 0's 6, of a need of 5."""
    lacking = Cut(np.array([0], np.int32), np.array([1, 2], np.int32), 5.0)
    rows = rows_of(round_(band=0.1), Bound(0.0, (lacking,), ()))
    assert_row(rows[20], at(16, {8: 4.4 / 6, 11: 1 / 6}), 5 / 6, np.inf)


def test_zones_are_rows_on_columns_of_their_own() -> None:
    """z of a zone and shard is at most its replicas; a shard's z sum to the spread at least."""
    problem = lb.make_round([1.0, 1.0], [0, 1], servers=3, zone=["a", "b", "a"], spread=2, band=9.0)
    program = _Program(problem, all_pairs(problem), NO_CUTS, 0.0)
    stated = program.stated()
    dense = stated.matrix.toarray()
    size = 12 + 4
    assert dense.shape == (3 + 2 + 6 + 3 + 2 + 4 + 2, size)
    assert stated.cost[12:].tolist() == [0.0] * 4
    assert stated.integer is not None
    assert stated.integer.tolist() == [False] * 6 + [True] * 10
    rows = list(zip(dense, stated.row_lower, stated.row_upper, strict=True))[16:]
    # y are 6 to 11, server by server; zones a: servers 0 and 2.
    assert_row(rows[0], at(size, {12: 1, 6: -1, 10: -1}), -np.inf, 0.0)
    assert_row(rows[1], at(size, {13: 1, 7: -1, 11: -1}), -np.inf, 0.0)
    assert_row(rows[2], at(size, {14: 1, 8: -1}), -np.inf, 0.0)
    assert_row(rows[3], at(size, {15: 1, 9: -1}), -np.inf, 0.0)
    assert_row(rows[4], at(size, {12: 1, 14: 1}), 2.0, np.inf)
    assert_row(rows[5], at(size, {13: 1, 15: 1}), 2.0, np.inf)
    placed = Placed(
        np.array([0, 1, 2], np.int32),
        np.array([1, 1, 0], np.int32),
        np.array([0.25, 0.75, 1.0]),
        0.0,
    )
    columns = program.columns_of(placed)
    assert columns is not None
    assert columns.tolist() == [0, 0.25, 0, 0.75, 1, 0, 0, 1, 0, 1, 1, 0, 1, 1, 0, 1]


def test_a_placement_as_columns_and_back() -> None:
    problem = round_()
    program = _Program(problem, all_pairs(problem), NO_CUTS, 0.0)
    placed = Placed(
        np.array([0, 0, 1, 1, 1], np.int32),
        np.array([0, 1, 0, 2, 3], np.int32),
        np.array([1.5, 3.0, 4.5, 2.0, 1.0]),
        1.0,
    )
    columns = program.columns_of(placed)
    assert columns is not None
    assert columns.tolist() == [0.25, 1, 0, 0, 0.75, 0, 1, 1, 1, 1, 0, 0, 1, 0, 1, 1]
    again = program.placed(columns)
    assert again is not None
    assert again.server.tolist() == [0, 0, 1, 1, 1]
    assert again.shard.tolist() == [0, 1, 0, 2, 3]
    assert again.load.tolist() == pytest.approx([1.5, 3.0, 4.5, 2.0, 1.0])
    assert again.cost == 1.0
    assert program.columns_of(None) is None


def test_a_placement_on_other_pairs_is_no_start() -> None:
    problem = round_()
    pairs = all_pairs(problem)
    pairs[0, 0] = False
    program = _Program(problem, pairs, NO_CUTS, 0.0)
    none = Placed(np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0), np.inf)
    assert program.columns_of(none) is None
    one = Placed(np.array([0], np.int32), np.array([0], np.int32), np.array([6.0]), 0.0)
    assert program.columns_of(one) is None
    other = Placed(np.array([0], np.int32), np.array([1], np.int32), np.array([3.0]), 0.0)
    columns = program.columns_of(other)
    assert columns is not None
    assert np.flatnonzero(columns).tolist() == [0, 7]


def test_columns_are_balanced_exactly_or_are_no_placement() -> None:
    """Shares that sum to 1.0002, and a band that they leave: loads are shifted into it."""
    problem = round_()
    program = _Program(problem, all_pairs(problem), NO_CUTS, 0.0)
    y = [1.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0, 1.0]
    found = program.placed(np.array([0.6, 1.0, 0, 0, 0.4002, 0, 1.0, 1.0, *y]))
    assert found is not None
    totals = np.bincount(found.server, found.load)
    assert totals[0] <= problem.upper[0] + 1e-9
    assert np.bincount(found.shard, found.load).tolist() == pytest.approx([6.0, 3.0, 2.0, 1.0])
    # 9 on server 0, with no replica elsewhere, is more than its 6.
    alone = np.array([1.0, 1.0, 0, 0, 0, 0, 1.0, 1.0, 1, 1, 0, 0, 0, 0, 1, 1])
    assert program.placed(alone) is None
    # A shard that is nowhere, or carries nothing, in whatever band.
    wide = round_(band=5.0)
    program = _Program(wide, all_pairs(wide), NO_CUTS, 0.0)
    nothing = np.array([1.0, 0, 0, 0, 0, 0, 1.0, 1.0, 1, 1, 0, 0, 0, 0, 1, 1])
    assert program.placed(nothing) is None
    nowhere = np.array([1.0, 0, 0, 0, 0, 0, 1.0, 1.0, 1, 0.4, 0, 0, 0, 0, 1, 1])
    assert program.placed(nowhere) is None


def test_pairs_are_all_but_those_of_draining_servers() -> None:
    assert all_pairs(round_(drain=["0"])).tolist() == [[False] * 4, [True] * 4]
    assert all_pairs(round_()).all()


@pytest.mark.parametrize("seed", range(6))
def test_highs_moves_as_little_as_trying_everything(seed: int) -> None:
    problem = drawn_round(seed, 3, 5, band=0.2, memory=5.0)
    for bound in (NO_CUTS, counting_bound(problem)):
        found = solve_pairs(problem, all_pairs(problem), bound, SOON)
        assert found.status is Status.OPTIMAL
        assert found.placed is not None
        assert found.placed.cost == least_moves(problem, 4)
        assert found.bound == pytest.approx(found.placed.cost, abs=1e-6)


def test_pairs_without_a_placement_are_infeasible() -> None:
    problem = round_()
    found = solve_pairs(problem, problem.held, NO_CUTS, SOON)  # 9 and 3
    assert (found.placed, found.status) == (None, Status.INFEASIBLE)


def test_near_pairs_are_replicas_and_needy_servers_times_hot_shards() -> None:
    """Of many servers and shards few pairs; what is there stays, what drains has none."""
    rng = np.random.default_rng(1)
    home = np.r_[np.zeros(60, int), rng.integers(1, 100, 740)]
    problem = lb.make_round(
        rng.uniform(1.0, 2.0, 800), home, servers=100, band=0.1, drain=["7"], memory=100.0
    )
    bound = counting_bound(problem)
    pairs = near_pairs(problem, bound, None, 1, 0)
    stays = ~problem.drain
    assert not pairs[7].any()
    assert (pairs[stays] >= problem.held[stays]).all()
    assert pairs.sum() < 0.25 * pairs.size
    # The emptiest servers take new shards, 48 each at most besides their own.
    new = (pairs & ~problem.held).sum(axis=1)
    now = np.where(stays, problem.loads_now(), np.inf)
    emptiest = np.argsort(now)[:12]
    assert (new[emptiest] >= 40).all()
    # What only the draining server holds may go to others.
    leaving = problem.held[7] & (problem.held[stays].sum(axis=0) == 0)
    assert pairs[:, leaving].sum(axis=0).min() >= 6
    again = near_pairs(problem, bound, None, 1, 0)
    assert (again == pairs).all()
    assert (near_pairs(problem, bound, None, 1, 1) != pairs).any()
    assert near_pairs(problem, bound, None, 4, 0).sum() > pairs.sum()
    # A given placement's pairs are taken in.
    placed = Placed(np.array([99], np.int32), np.array([799], np.int32), np.array([1.0]), 0.0)
    assert near_pairs(problem, bound, placed, 1, 0)[99, 799]


def test_near_pairs_do_not_depend_on_the_unit_of_load() -> None:
    rng = np.random.default_rng(2)
    load, weight = rng.uniform(1.0, 9.0, 300), rng.uniform(0.5, 2.0, 60)
    home = rng.integers(0, 60, 300)

    def near(unit: float) -> np.ndarray:
        problem = lb.make_round(unit * load, home, servers=60, weight=weight, band=0.1)
        return near_pairs(problem, NO_CUTS, None, 1, 0)

    assert (near(1.0) == near(2.0**-10)).all()

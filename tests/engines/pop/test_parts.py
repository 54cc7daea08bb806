"""A problem split into parts, and their points put together."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from tests.engines.pop.instances import CALM, cluster, wide

from walras.domains import cluster_scheduling as cs
from walras.domains import traffic_engineering as te
from walras.engines.exact.engine import Exact
from walras.engines.pop.engine import POP
from walras.engines.pop.parts import Part, asks, merge, split
from walras.iterate import Iterate
from walras.progress import History, Timings
from walras.separable import Family, Rows, Separable, Side, Utility
from walras.settings import Start
from walras.status import Status


def test_parts_cover_every_demand_once_with_a_kth_of_the_capacity() -> None:
    T, size, capacity = cluster(0, jobs=10)
    quota = cs.Quota({"org": list(range(6))}, {"org": 3.0})
    problem = cs.max_min(T, size, capacity, quota=quota)
    parts = split(problem, 3, seed=1)
    assert sorted(len(part.problem.demand_names) for part in parts) == [3, 3, 4]
    assert sorted(name for part in parts for name in part.problem.demand_names) == sorted(
        problem.demand_names
    )
    entries = np.concatenate([part.entries for part in parts])
    assert np.array_equal(np.sort(entries), np.arange(problem.entries))
    for part in parts:
        rows = {part.problem.rows.name(r): r for r in range(part.problem.rows.count)}
        assert part.problem.rows.upper[rows["capacity[2]"]] == pytest.approx(capacity[2] / 3)
        assert part.problem.rows.upper[rows["quota[org]"]] == pytest.approx(1.0)
        for j, name in enumerate(part.problem.demand_names):
            assert part.problem.rows.owner[rows[f"time[{name}]"]] == j
            here = part.problem.demand == j
            there = problem.demand == int(name)
            block = part.problem.rows.matrix[[rows[f"throughput[{name}]"]]].toarray()[0]
            assert -block[here] == pytest.approx(T[T[:, int(name)] > 0, int(name)])
            assert np.array_equal(part.problem.resource[here], problem.resource[there])


def test_shared_utilities_and_equalities_are_split_too() -> None:
    # Two equal demands on one resource: minimise (y - 3)^2 / 2 of the load y, and x_0 + x_1 = 2.
    both = np.ones((2, 2))
    rows = Rows(
        matrix=sp.csc_array(both),
        scalar_matrix=np.zeros((2, 0)),
        lower=np.array([-np.inf, 2.0]),
        upper=np.array([np.inf, 2.0]),
        side=np.array([Side.RESOURCE, Side.COUPLED], np.int8),
        owner=np.array([0, -1], np.int32),
        utility=np.array([Utility.QUADRATIC, Utility.NONE], np.int8),
        weight=np.ones(2),
        parameter=np.array([3.0, 0.0]),
        families=(Family("load", 0, 1), Family("total", 1, 2)),
    )
    zero = np.zeros(2)
    problem = Separable(
        resource=np.zeros(2, np.int32),
        demand=np.arange(2, dtype=np.int32),
        cost=zero,
        quadratic=zero,
        lower=zero,
        upper=np.full(2, np.inf),
        scalar_cost=np.zeros(0),
        scalar_lower=np.zeros(0),
        scalar_upper=np.zeros(0),
        rows=rows,
        resource_names=["r"],
        demand_names=["a", "b"],
    )
    point = POP(2, engine=Exact()).solve(problem, CALM)
    assert point.x == pytest.approx([1.0, 1.0], abs=1e-6)
    assert point.prices == pytest.approx(Exact().solve(problem, CALM).prices, abs=1e-5)


def test_the_largest_demands_have_a_piece_in_every_part() -> None:
    net, demand, paths = wide()
    problem = te.max_total_flow(net, demand, paths)
    own = paths.demands(demand)
    count = round(0.1 * np.count_nonzero(own))
    largest = set(np.argsort(-own, kind="stable")[:count].tolist())
    pieces, names = split(problem, 4, 0, 0.1), list(paths.pair_names)
    times, total = np.zeros(len(own)), np.zeros(len(own))
    for piece in pieces:
        rows = piece.problem.rows
        for r, whole in enumerate(piece.rows.tolist()):
            if rows.side[r] == Side.DEMAND:
                j = int(problem.rows.owner[whole])
                assert piece.problem.demand_names[rows.owner[r]] == names[j]
                times[j] += 1
                total[j] += rows.upper[r]
    assert total == pytest.approx(own)
    assert times.tolist() == [4.0 if j in largest else 1.0 for j in range(len(own))]
    sizes = [len(piece.problem.demand_names) for piece in pieces]
    assert max(sizes) - min(sizes) <= count
    assert split(problem, 4, 0, 0.0)[0].problem.entries < pieces[0].problem.entries


def ended(part: Part, status: Status = Status.OPTIMAL, seconds: float = 1.0) -> Iterate:
    """A point of a part: its upper bounds where they are finite, prices of one."""
    problem = part.problem
    return Iterate(
        x=np.where(np.isfinite(problem.upper), problem.upper, 1.0),
        t=np.full(problem.scalars, float(len(problem.demand_names))),
        prices=np.ones(problem.rows.count),
        status=status,
        history=History(()),
        timings=Timings(iterate=seconds),
        message="",
    )


def test_points_of_parts_are_put_together_where_their_entries_stand() -> None:
    problem = cs.total_throughput(*cluster(1, jobs=7))
    parts = split(problem, 3, seed=0)
    found = merge(problem, parts, [ended(part) for part in parts], build=0.5, wall=2.0)
    whole = np.where(np.isfinite(problem.upper), problem.upper, 1.0)
    np.testing.assert_allclose(found.x, whole)
    np.testing.assert_allclose(found.prices, 1.0)  # shares of each row add up to one
    assert (found.timings.build, found.timings.iterate, found.timings.ideal) == (0.5, 2.0, 1.0)
    assert found.message == "POP-3"


@pytest.mark.parametrize(
    ("statuses", "worst"),
    [
        ([Status.OPTIMAL] * 3, Status.FEASIBLE),
        ([Status.OPTIMAL, Status.LIMIT, Status.INACCURATE], Status.LIMIT),
        ([Status.INTERRUPTED, Status.LIMIT, Status.OPTIMAL], Status.INTERRUPTED),
    ],
)
def test_the_worst_part_says_how_the_whole_ended(statuses: list[Status], worst: Status) -> None:
    problem = cs.total_throughput(*cluster(1, jobs=7))
    parts = split(problem, 3, seed=0)
    points = [ended(part, status) for part, status in zip(parts, statuses, strict=True)]
    assert merge(problem, parts, points, build=0.0, wall=0.0).status is worst
    one = split(problem, 1, seed=0)
    assert merge(problem, one, [ended(one[0])], build=0.0, wall=0.0).status is Status.OPTIMAL


def test_a_shared_scalar_is_the_one_that_all_parts_reach() -> None:
    problem = cs.max_min(*cluster(1, jobs=7))
    parts = split(problem, 3, seed=0)
    found = merge(problem, parts, [ended(part) for part in parts], build=0.0, wall=0.0)
    assert found.t.tolist() == [2.0]  # the least of 3, 2 and 2 jobs: more is not met everywhere
    np.testing.assert_allclose(found.prices, 1.0 / 3.0)  # each part counts as a third


def test_a_start_is_cut_like_the_problem() -> None:
    problem = cs.total_throughput(*cluster(2, jobs=6))
    parts = split(problem, 2, seed=0, splitting=1.0)
    prices = np.linspace(0.0, 1.0, problem.rows.count)
    whole = Start(x=np.arange(1.0, problem.entries + 1), prices=prices)
    total = np.zeros(problem.entries)
    for part in parts:
        own = part.start(whole)
        total[part.entries] += own.x
        np.testing.assert_array_equal(own.prices, whole.prices[part.rows])
    np.testing.assert_allclose(total, whole.x)


def test_demands_that_can_have_nothing_ask_for_nothing() -> None:
    problem = cs.total_throughput(*cluster(3, jobs=5))
    upper = np.where(problem.demand == 2, 0.0, np.minimum(problem.upper, 9.0))
    idle = replace(problem, upper=upper)
    assert asks(idle).tolist() == [True, True, False, True, True]
    last = [part.problem.demand_names for part in split(idle, 5, seed=0)]
    assert [problem.demand_names[2]] == last[-1]

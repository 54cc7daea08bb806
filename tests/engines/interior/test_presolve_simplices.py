"""What is decided before solving, against solves that do not know it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.engines.interior.flows import OBJECTIVES, SEEDS, flow, optimum, te

from walras.engines.interior.presolve_simplices import Simplices, presolve


@settings(max_examples=40)
@given(seed=SEEDS, objective=OBJECTIVES, scale=st.sampled_from([0.03, 0.3, 3.0]))
def test_what_is_decided_costs_nothing(seed: int, objective: object, scale: float) -> None:
    problem = flow(seed, objective, scale)
    simplices = Simplices.of(problem)
    assert simplices is not None
    decided = presolve(simplices)
    assert optimum(problem, decided) == pytest.approx(optimum(problem), rel=1e-7, abs=1e-9)
    assert not np.all(decided.settled)


@settings(max_examples=40)
@given(seed=SEEDS, given=st.floats(0.0, 2.0))
def test_what_a_scalar_leaves_loose_costs_nothing_where_rows_have_limits_of_their_own(
    seed: int, given: float
) -> None:
    problem = flow(seed, te.min_max_utilisation)
    rows, rng = problem.rows, np.random.default_rng(seed)
    capacity = rows.scalar_matrix[:, 0] < 0
    upper = np.where(capacity, rng.uniform(0.0, given, rows.count), rows.upper)
    problem = replace(problem, rows=replace(rows, upper=upper))
    simplices = Simplices.of(problem)
    assert simplices is not None
    decided = presolve(simplices)
    assert optimum(problem, decided) == pytest.approx(optimum(problem), rel=1e-7, abs=1e-9)


def test_the_block_that_needs_most_leaves_the_other_rows_loose() -> None:
    # 30 from a to d by way of b, 10 wide, or of c, 5 wide: 2 = 30 / (10 + 5) of each at least.
    ends = np.array([[0, 1, 0, 2, 1], [1, 3, 2, 3, 2]], dtype=np.int32)
    net = te.Network(tuple("abcd"), ends[0], ends[1], np.array([10.0, 40.0, 50.0, 5.0, 4.0]))
    paths = te.candidate_paths(net, k=2, cache=False)
    demand = np.zeros((4, 4))
    demand[0, 3], demand[0, 1], demand[1, 2] = 30.0, 1.0, 7.0
    problem = te.min_max_utilisation(net, demand, paths)
    simplices = Simplices.of(problem)
    assert simplices is not None
    assert not np.any(presolve(simplices).loose[[0, 3]])
    assert np.all(presolve(simplices).loose[[1, 2, 4]])
    assert optimum(problem) == pytest.approx(31.0 / 15.0)  # the link from a to b carries 1 more


def test_scarce_traffic_is_decided_at_once() -> None:
    simplices = Simplices.of(flow(3, te.max_total_flow, 1e-3))
    assert simplices is not None
    decided = presolve(simplices)
    assert np.sum(decided.settled) == simplices.blocks - 1  # one is left to solve
    assert np.sum(decided.loose) == simplices.problem.rows.count - simplices.blocks


@given(seed=SEEDS)
def test_a_pair_whose_paths_are_all_closed_is_left_out(seed: int) -> None:
    problem = flow(seed, te.max_total_flow)
    mine = problem.demand == problem.demand[0]
    shut = replace(problem, upper=np.where(mine, 0.0, problem.upper))
    whole, part = Simplices.of(problem), Simplices.of(shut)
    assert whole is not None
    assume(whole.blocks > 1)
    assert part is not None
    assert part.blocks == whole.blocks - 1
    assert not np.any(mine[part.entry])
    decided = presolve(part)
    assert optimum(shut, decided) == pytest.approx(optimum(shut), rel=1e-7, abs=1e-9)


@pytest.mark.parametrize(
    "change",
    [
        {"quadratic": 1.0},
        {"lower": 0.5},
        {"upper": 3.0},
        {"integer": True},
    ],
    ids=lambda change: next(iter(change)),
)
def test_blocks_that_are_no_simplices_are_not_taken_for_them(change: dict[str, Any]) -> None:
    problem = flow(3, te.max_total_flow)
    is_open = problem.upper > 0
    each = {name: np.where(is_open, value, type(value)(0)) for name, value in change.items()}
    assert Simplices.of(problem) is not None
    assert Simplices.of(replace(problem, **each)) is None


@given(seed=SEEDS)
def test_each_block_takes_the_cheapest_of_its_open_places(seed: int) -> None:
    s = Simplices.of(flow(seed, te.max_total_flow))
    assert s is not None
    rng = np.random.default_rng(seed)
    reduced, closed = rng.normal(size=s.problem.entries), rng.random(len(s.entry)) < 0.3
    place, _ = s.choose(reduced, closed, 1)
    for k in range(s.blocks):
        mine = [q for q in range(s.ptr[k], s.ptr[k + 1]) if not closed[q]]
        cost = {q: reduced[s.entry[q]] * s.size[q] for q in mine}
        best = min(cost, key=cost.__getitem__, default=-1)
        pays = best >= 0 and (cost[best] < 0 or s.is_equation[k])
        assert place[k] == (best if pays else -1)

"""What is decided before solving, against solves that do not know it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
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


def test_scarce_traffic_is_decided_at_once() -> None:
    simplices = Simplices.of(flow(3, te.max_total_flow, 1e-3))
    assert simplices is not None
    decided = presolve(simplices)
    assert np.sum(decided.settled) == simplices.blocks - 1  # one is left to solve
    assert np.sum(decided.loose) == simplices.problem.rows.count - simplices.blocks


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

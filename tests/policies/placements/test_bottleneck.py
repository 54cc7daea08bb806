"""The least makespan above a floor: known answers, and every placement there is."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.policies.placements.predictions import table
from tests.policies.placements.small import CALM, stated, trusted

from walras.policies.placements import Policy, decide
from walras.rounds import (
    BINDS,
    Rules,
    check,
)


def test_the_longest_task_is_as_short_as_can_be() -> None:
    # Quickest first would put t0 on c0 and leave 9 s for t1.
    snapshot = stated(2, trusted(2))
    decision = decide(snapshot, table([[1, 2], [3, 9]]), CALM)
    assert decision.cluster.tolist() == [1, 0]
    assert (decision.makespan, decision.bound, decision.gap) == (3.0, 3.0, 0.0)
    assert [BINDS[k] for k in decision.binds] == ["full", "quickest"]
    assert decision.runner_up.tolist() == [0, 1]
    assert decision.makespan_if_moved.tolist() == [2.0, 9.0]
    assert decision.state == "ok"


def test_the_floor_moves_the_task_that_loses_least() -> None:
    snapshot = stated(2, trusted(2, slots=[2, 2]), rules=Rules(0.8))
    seconds = [[10, 10], [11, 15]]
    chance = [[0.7, 0.7], [0.9, 0.9]]
    decision = decide(snapshot, table(seconds, chance), CALM)
    assert decision.cluster.tolist() == [1, 0]
    assert decision.mean_success == pytest.approx(0.8)
    assert decision.makespan == decision.bound == 11.0
    assert BINDS[decision.binds[0]] == "floor"
    assert decision.floor_price > 0.0


def test_prices_of_slots() -> None:
    # One slot on c0: another would save 8 - 3 s of work, the task that would come.
    snapshot = stated(2, trusted(2, slots=[1, 2]))
    decision = decide(snapshot, table([[2, 3], [9, 8]]), CALM)
    assert decision.cluster.tolist() == [0, 1]
    assert decision.prices == pytest.approx([5.0, 0.0], abs=1e-3)


@given(st.integers(0, 2**32 - 1), st.booleans())
@settings(max_examples=150)
def test_the_makespan_is_the_least_of_all_placements(seed: int, large: bool) -> None:
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 6)), int(rng.integers(1, 4))
    seconds, chance = rng.uniform(5, 100, (m, n)).round(), rng.uniform(0.5, 1, (m, n)).round(2)
    slots = rng.choice([1, 2], n) if large else np.ones(n, int)
    clusters = trusted(m, slots=rng.integers(1, 4, m))
    snapshot = stated(n, clusters, rules=Rules(float(rng.choice([0, 0.7, 0.8]))), slots=slots)
    decision = decide(snapshot, table(seconds, chance), CALM, seed=seed)
    assert check(snapshot, decision) == []
    same = np.flatnonzero(decision.placed)
    floor = snapshot.rules.min_success if decision.state == "ok" else 0.0
    if not len(same):
        return
    best = np.inf
    for choice in product(range(m), repeat=len(same)):
        x = np.array(choice, int)
        fill = np.bincount(x, slots[same], m)
        if (fill <= clusters.slots).all() and chance[x, same].mean() >= floor - 1e-9:
            best = min(best, seconds[x, same].max())
    assert decision.bound <= best * (1 + 1e-12)
    if decision.state == "ok" and not large:
        assert decision.makespan == best == decision.bound
    if decision.state == "ok":
        assert decision.makespan >= best
    if decision.state == "fallback":  # no placement reaches the floor
        reach = [
            chance[np.array(c), same].mean()
            for c in product(range(m), repeat=len(same))
            if (np.bincount(c, slots[same], m) <= clusters.slots).all()
        ]
        assert large or max(reach) < snapshot.rules.min_success


def test_a_floor_that_cannot_be_reached_gets_a_price() -> None:
    snapshot = stated(2, trusted(2, slots=[2, 2]), rules=Rules(0.95))
    predict = table([[10, 10], [20, 20]], [[0.5, 0.5], [0.9, 0.9]])
    cheap = decide(snapshot, predict, Policy(explore=0.0, shortfall_price=1.0))
    assert (cheap.state, cheap.method) == ("fallback", "elastic floor")
    assert cheap.why == "no placement reaches the floor"
    assert cheap.makespan == 10.0
    assert cheap.shortfall == pytest.approx(0.45)
    dear = decide(snapshot, predict, Policy(explore=0.0, shortfall_price=1e6))
    assert dear.makespan == 20.0
    assert dear.shortfall == pytest.approx(0.05)
    assert check(snapshot, cheap) == check(snapshot, dear) == []

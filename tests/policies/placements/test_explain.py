"""Why a task is where it is: figures, the runner-up by trying all moves, and what binds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.policies.placements.predictions import at_random, table
from tests.policies.placements.small import CALM, stated, trusted

from walras.policies.placements import decide
from walras.policies.placements.explain import Placed, _runner_up
from walras.policies.placements.problem import Problem
from walras.rounds import BINDS, Clusters, Decision, Rules


def _binds(decision: Decision) -> list[str]:
    return [BINDS[k] for k in decision.binds[decision.placed]]


def _problem(seconds: np.ndarray, room: list[int], free: list[int], **more: Any) -> Problem:
    n, m = seconds.shape
    given: dict[str, Any] = {
        "chance": np.ones((n, m)),
        "size": np.ones(n, np.int64),
        "group": np.full(m, -1),
        "cap": np.zeros(0, np.int64),
        "floor": 0.0,
        "weight": np.ones(m),
        "start": np.zeros(n, np.int64),
    }
    return Problem(seconds, room=np.array(room), free=np.array(free), **(given | more))


@given(st.integers(0, 2**32 - 1), st.booleans())
@settings(max_examples=60)
def test_the_runner_up_is_the_best_of_all_moves(seed: int, queues: bool) -> None:
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 6)), int(rng.integers(1, 4))
    seconds = rng.uniform(1.0, 9.0, (n, m))
    seconds[rng.random((n, m)) < 0.3] = np.inf
    own = rng.integers(0, m, n)
    seconds[np.arange(n), own] = rng.uniform(1.0, 9.0, n)
    room = [n + 1] * m
    problem = _problem(seconds, room, [1] * m if queues else room)
    other, after = _runner_up(Placed(problem, np.arange(n), own, np.zeros(n)))
    for j in range(n):
        moves = {}
        for i in range(m):
            if i != own[j] and np.isfinite(seconds[j, i]):
                there = own.copy()
                there[j] = i
                moves[i] = problem.makespan(there)
        if not moves:
            assert (other[j], after[j]) == (-1, 0.0)
        elif not queues:
            assert after[j] == pytest.approx(min(moves.values()))
            assert moves[int(other[j])] == pytest.approx(after[j])
        else:  # the cluster that it leaves counts as it is: never too good
            assert after[j] >= min(moves.values()) - 1e-9


def test_what_is_left_and_which_providers_are_at_their_bound() -> None:
    problem = _problem(
        np.ones((3, 3)),
        [4, 2, 2],
        [4, 2, 2],
        size=np.array([2, 1, 1]),
        group=np.array([0, 0, -1]),
        cap=np.array([2]),
    )
    placed = Placed(problem, np.arange(3), np.array([0, 1, 2]), np.zeros(3))
    assert placed.left.tolist() == [2, 1, 1]
    assert placed.bounded.tolist() == [True, True, False]
    fewer = replace(placed, problem=replace(problem, cap=np.array([3])))
    assert fewer.bounded.tolist() == [False, False, False]


def test_what_binds_is_named() -> None:
    only = decide(stated(1, trusted(1)), table([[5]]), CALM)
    assert _binds(only) == ["only"]
    quickest = decide(stated(1, trusted(2)), table([[5], [9]]), CALM)
    assert _binds(quickest) == ["quickest"]
    full = decide(stated(2, trusted(2)), table([[1, 2], [3, 9]]), CALM)
    assert _binds(full) == ["full", "quickest"]
    floor = decide(
        stated(1, trusted(2), rules=Rules(0.9)), table([[1], [9]], [[0.5], [0.95]]), CALM
    )
    assert _binds(floor) == ["floor"]
    clusters = Clusters.of(["old", "new"], slots=[5, 9], confirmed=[100.0, 0.0])
    bound = decide(stated(5, clusters), table([[50] * 5, [1] * 5]), CALM)
    assert "provider" in _binds(bound)


def test_figures_are_the_predictions_of_the_cluster_and_of_the_runner_up() -> None:
    snapshot = stated(3, trusted(2, slots=[3, 3]))
    decision = decide(snapshot, at_random(4, safe=0.9), CALM)
    found = at_random(4, safe=0.9)(snapshot.features[0].values, ("task",), ("c0", "c1"))
    for j in range(3):
        own, other = decision.cluster[j], decision.runner_up[j]
        assert {own, other} == {0, 1}
        assert decision.seconds[j] == found.seconds[own, j]
        assert decision.seconds_high[j] == found.seconds_high[own, j]
        assert decision.runner_up_chance[j] == found.chance[other, j]
    waits = decide(stated(2, trusted(1)), table([[5, 6]]), CALM)
    j = int(np.flatnonzero(~waits.placed)[0])
    assert (waits.cluster[j], waits.runner_up[j], waits.seconds[j]) == (-1, -1, 0.0)

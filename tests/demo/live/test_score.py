"""Rounds are judged by the data's times, all plans from the same free slots."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from walras.demo.live.score import Ran, Score, makespan
from walras.demo.live.world import World


@pytest.fixture(scope="module")
def world() -> World:
    """The clusters."""
    return World.load(0)


def test_tasks_wait_for_slots() -> None:
    times = np.array([[4.0, 3.0, 2.0, 1.0]])
    one = np.zeros(4, np.int64)
    assert makespan(times, one, [np.array([0.0, 0.0])]) == 5.0
    assert makespan(times, one, [np.array([0.0, 9.0])]) == 10.0
    assert makespan(times, one, [np.array([6.0, 6.0])]) == 11.0


def test_no_plan_beats_an_oracle_where_the_floor_allows_all(world: World) -> None:
    names = [world.recipe.test.names[j] for j in (3, 11, 42, 77)]
    times, _ = world.truth(names)
    ready = [np.zeros(1)] * 3
    best = min(
        makespan(times, np.array(plan, np.int64), ready)
        for plan in itertools.product(range(3), repeat=4)
    )
    score = Score(world, 1)
    runs = [Ran(name, world.clusters[k % 3], 0.0, 1.0) for k, name in enumerate(names)]
    score.add(1, 0.0, runs)
    assert score.rounds == 1
    assert score.oracle >= best - 1e-9
    assert score.ours >= best - 1e-9
    assert score.ours == makespan(times, np.array([0, 1, 2, 0]), ready)


def test_runs_of_earlier_rounds_hold_their_slots(world: World) -> None:
    name, cluster = world.recipe.test.names[0], world.clusters[0]
    score = Score(world, 2)
    score.add(1, 100.0, [Ran(name, cluster, 100.0, 130.0), Ran(name, cluster, 100.0, 104.0)])
    ready = score._ready(110.0)
    assert ready[0].tolist() == [0.0, 20.0]
    assert ready[1].tolist() == [0.0, 0.0]


def test_a_round_of_one_task_says_nothing_and_is_not_looked_at_again(world: World) -> None:
    score = Score(world, 2)
    score.add(5, 0.0, [Ran(world.recipe.test.names[0], world.clusters[0], 0.0, 1.0)])
    assert (score.rounds, score.judged) == (0, {5})

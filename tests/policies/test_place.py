"""Tasks placed together keep every rule, and no plan places more, by enumeration."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.policies.placements.predictions import at_random, table
from tests.policies.placements.small import stated, trusted
from tests.rounds.drawn import snapshots

import walras as wl
from walras.errors import InputError
from walras.rounds import Snapshot, check


@settings(max_examples=30, deadline=None)
@given(snapshots(), st.booleans())
def test_no_rule_is_broken(snapshot: Snapshot, knows: bool) -> None:
    policy = wl.policies.place(predict=at_random(3)) if knows else wl.policies.place()
    found = policy(snapshot)
    assert check(snapshot, found) == []
    assert found == policy(snapshot)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(1, 5), min_size=1, max_size=5),
    st.lists(st.integers(0, 7), min_size=1, max_size=3),
    st.sampled_from(["slots", "tasks"]),
)
def test_no_plan_fills_more(sizes: list[int], rooms: list[int], most: Any) -> None:
    snapshot = stated(len(sizes), trusted(len(rooms), slots=rooms), slots=sizes)
    found = wl.policies.place(most=most, tolerance=0.0)(snapshot).cluster
    worth = sizes if most == "slots" else [1] * len(sizes)
    best = max(
        sum(each for each, at in zip(worth, plan, strict=True) if at >= 0)
        for plan in product(range(-1, len(rooms)), repeat=len(sizes))
        if all(
            sum(size for size, at in zip(sizes, plan, strict=True) if at == i) <= room
            for i, room in enumerate(rooms)
        )
    )
    assert np.array(worth)[found >= 0].sum() == best


def test_higher_priorities_are_placed_first() -> None:
    snapshot = stated(2, trusted(1, slots=[4]), slots=[1, 4], priority=[1, 0])
    assert wl.policies.place()(snapshot).cluster.tolist() == [0, -1]


def test_of_tasks_that_ask_for_the_same_the_oldest_go_first() -> None:
    snapshot = stated(3, trusted(1, slots=[2]), submitted=[3.0, 1.0, 2.0])
    assert wl.policies.place()(snapshot).cluster.tolist() == [-1, 0, 0]


def test_the_least_success_of_a_task_is_kept() -> None:
    snapshot = stated(2, trusted(2), min_success=[0.9, 0.0])
    predict = table(np.ones((2, 2)), np.array([[0.5, 0.9], [0.95, 0.9]]))
    assert wl.policies.place(predict=predict)(snapshot).cluster.tolist() == [1, 0]


@pytest.mark.parametrize("given", [{"tolerance": -1.0}, {"seed": -1}, {"most": "jobs"}])
def test_bad_settings_are_refused_before_a_round(given: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        wl.policies.place(**given)


def test_the_simulator_runs_it_and_nothing_is_refused() -> None:
    tasks = wl.simulate.draw_tasks(80, rate=600.0, seed=0)
    slots = wl.simulate.Slots({"east": 24, "west": 32})
    run = wl.simulate.run(tasks, slots, wl.policies.place(), round_seconds=30)
    assert run.policy == "place"
    assert not run.violations
    assert run.fates["ended"] == 80

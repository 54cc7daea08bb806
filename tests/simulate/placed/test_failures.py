"""Failures of clusters with slots that are drawn while the run goes on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from walras import InputError, policies
from walras.rounds import Decision, Snapshot
from walras.simulate import Failures, Outage, Slots, draw_tasks, run

TASKS = draw_tasks(40, rate=240.0, seed=1)
SLOTS = Slots({"east": 3, "west": 4})


def test_they_are_those_that_python_draws_ahead() -> None:
    rules: dict[str, Any] = {"round_seconds": 30.0, "seed": 5}
    given = Failures({"east": 900.0, "west": 900.0}, 300.0)
    made = run(TASKS, SLOTS, policies.first_fit(), failures=given, **rules)
    ahead = SLOTS.with_failures(900.0, 300.0, 1e6, seed=5)
    same = run(TASKS, ahead, policies.first_fit(), **rules)
    assert made.stopped.sum() > 0
    assert made.complete
    np.testing.assert_array_equal(made.down, same.down)
    np.testing.assert_array_equal(made.ended, same.ended)


def test_only_the_clusters_that_are_named_fail() -> None:
    rules: dict[str, Any] = {"round_seconds": 30.0, "failures": Failures({"west": 600.0}, 60.0)}
    for policy in (policies.first_fit(), policies.best_fit()):
        made = run(TASKS, SLOTS, policy, **rules)
        assert set(made.down[:, 0].tolist()) == {1.0}
    nothing = run(TASKS, SLOTS, policies.first_fit(), round_seconds=30.0, failures=Failures())
    assert nothing.hash == run(TASKS, SLOTS, policies.first_fit(), round_seconds=30.0).hash


def test_a_policy_that_places_nothing_comes_to_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("walras.simulate.placed.world._MOST_IN_VAIN", 200)

    def never(snapshot: Snapshot) -> Decision:
        return Decision.empty(snapshot.tasks.uid, snapshot.clusters.uid)

    made = run(TASKS, SLOTS, never, round_seconds=0.0, failures=Failures(900.0))
    assert set(made.state) == {"waiting"}
    assert len(made.down) >= 100


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"between": {"north": 9e3}}, r"Failures\.between.*north"),
        ({"between": 9e3, "repair": {"north": 9e3}}, r"Failures\.repair.*north"),
        ({"checkpoint": 60.0}, r"Failures\.checkpoint"),
        ({"job": 60.0}, r"Failures\.job"),
        ({"max_attempts": 9}, r"Failures\.max_attempts"),
        ({"between": 1.0}, "hardly ever end"),
    ],
)
def test_what_slots_cannot_do_is_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        run(TASKS, SLOTS, policies.first_fit(), failures=Failures(**given))


def test_outages_are_stated_or_drawn() -> None:
    both = Slots(SLOTS.counts, outages=[Outage("east", 5.0, 9.0)])
    with pytest.raises(InputError, match="outages"):
        run(TASKS, both, policies.first_fit(), failures=Failures(9e3))
    mapping: Any = {"between": 9e3}
    with pytest.raises(InputError, match="failures"):
        run(TASKS, SLOTS, policies.first_fit(), failures=mapping)

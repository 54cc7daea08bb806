"""A job of training: when it trains, when it judges, and what it asks the process."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.exchange.runtime.worlds import World

from walras.exchange.runtime.compute import Compute
from walras.exchange.runtime.held import TIMER, Held
from walras.exchange.runtime.learning_job import ENOUGH, LearningJob
from walras.exchange.runtime.training import unpack
from walras.exchange.service import imports, jobs, learning


class Scripted(Compute):
    """A process whose answers the test sets."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[tuple[str, dict[str, bytes]]] = []
        self.verdict: list[Any] = ["wait", "few runs", {}]

    def call(self, name: str, data: bytes, seconds: float) -> bytes:
        """A model that says ``model``, or the verdict."""
        self.calls.append((name, unpack(data)[1]))
        return b'["c1"]\nmodel' if name == "train" else json.dumps(self.verdict).encode()


@pytest.fixture
def compute() -> Scripted:
    return Scripted()


def _run(world: World, compute: Compute, subject: str = TIMER) -> str:
    exchange = world.exchange
    exchange.write(lambda tx, now: jobs.enqueue(tx, now, "train", subject))
    world.hands.on(10.0)
    job = exchange.write(lambda tx, now: jobs.claim(tx, now, "train", "me", 60.0, key=subject))
    assert job is not None
    return LearningJob(Held(exchange, job), compute, 5.0, 60).run()


def _add(world: World, count: int) -> None:
    past = imports.Past("c1", {"x": 1.0}, "completed", 4.0, world.hands.wall)
    world.names += 1
    batch = f"b{world.names}"
    world.exchange.write(lambda tx, now: imports.add(tx, now, batch, [past] * count))


def test_the_timer_trains_once_enough_runs_are_new_and_judges_after(
    world: World, compute: Scripted
) -> None:
    _add(world, 59)
    assert _run(world, compute) == "too few runs have ended"
    _add(world, 1)
    assert _run(world, compute) == "trained on 60 runs"
    shadow = world.exchange.read(lambda tx: learning.in_state(tx, "shadow"))
    assert shadow is not None
    assert (shadow.data, shadow.scores["typical"]) == (b"model", pytest.approx(4.0))
    assert _run(world, compute) == "v1: wait, few runs"
    compute.verdict = ["promote", "all tests passed", {}]
    assert _run(world, compute) == "v1: promote, all tests passed"
    active = world.exchange.read(learning.predictor_of)
    assert active is not None
    assert active.version == 1
    names = [(name, sorted(more)) for name, more in compute.calls]
    judged = ("score", ["candidate", "prior"])
    assert names == [("train", []), judged, judged]


def test_a_candidate_that_two_looks_did_not_promote_is_replaced(
    world: World, compute: Scripted
) -> None:
    _add(world, 60)
    _run(world, compute)
    for seen in (200, 399):
        compute.verdict = ["wait", "intervals of cluster c1 hold 82% of the times", {"runs": seen}]
        assert _run(world, compute).startswith("v1: wait, intervals of cluster c1")
    compute.verdict[2]["runs"] = 400
    assert _run(world, compute).startswith("v1: wait")
    assert _run(world, compute) == "trained on 60 runs"
    shadow = world.exchange.read(lambda tx: learning.in_state(tx, "shadow"))
    assert shadow is not None
    assert shadow.version == 2
    assert _run(world, compute).startswith("v2: wait"), "its own looks count"


def test_one_that_is_asked_for_trains_at_once_from_the_model_in_use(
    world: World, compute: Scripted
) -> None:
    _add(world, ENOUGH - 1)
    assert _run(world, compute, "asked") == f"{ENOUGH - 1} measured runs of {ENOUGH}"
    assert compute.calls == []
    _add(world, 1)
    assert _run(world, compute, "asked") == f"trained on {ENOUGH} runs"
    compute.verdict = ["promote", "good", {}]
    _run(world, compute)
    assert _run(world, compute, "asked") == f"trained on {ENOUGH} runs"
    assert compute.calls[-1] == ("train", {"start": b"model"})


def test_the_timers_job_comes_again_and_an_asked_one_ends(world: World, compute: Scripted) -> None:
    for subject, state in ((TIMER, "waiting"), ("asked", "done")):
        outcome = _run(world, compute, subject)
        number = world.exchange.read(
            lambda tx, s=subject: jobs.due(tx, world.exchange.now() + 5.0, "train")  # type: ignore[misc]
        )
        assert (subject in number) == (state == "waiting")
        assert outcome

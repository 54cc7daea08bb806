"""Predictors as jobs: trained in the process beside the service, judged, promoted."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
import pytest
import sqlalchemy as sa
from tests.exchange.runtime.worlds import World

from walras.exchange.errors import ComputeError
from walras.exchange.runtime import training
from walras.exchange.runtime.learner import Learner
from walras.exchange.service import clusters, imports, jobs, learning
from walras.exchange.store.statements import Statement, Transaction
from walras.predict import Predictor

RESULTS = Statement(sa.text("SELECT state, result FROM job WHERE kind = 'train' ORDER BY id"))
PLACED = Statement(
    sa.text("INSERT INTO round (state, started, policy, seed) VALUES ('published', 0, '{}', 0)")
)
IN_ROUND = Statement(sa.text("UPDATE placement SET round = 1 + id % 25 WHERE round IS NULL"))


def runs(count: int, seed: int) -> list[imports.Past]:
    """Runs of drawn tasks: c2 is twice as slow; the times follow one feature."""
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(count):
        x, slow = float(rng.normal()), int(rng.random() < 0.5)
        seconds = float(np.exp(2.0 + x + 0.7 * slow + 0.2 * rng.normal()))
        outcome = "completed" if rng.random() < 1.0 / (1.0 + np.exp(-2.0 - 2.0 * x)) else "failed"
        made.append(imports.Past(f"c{1 + slow}", {"x": x}, outcome, seconds, 1e9 - 1.0))
    return made


@pytest.fixture
def learner(world: World, monkeypatch: pytest.MonkeyPatch) -> Learner:
    """Trains in this process; one test does so in the other."""
    found = world.background.handlers["train"]
    assert isinstance(found, Learner)
    functions: dict[str, Callable[[bytes], bytes]] = {
        "train": training.train,
        "score": training.score,
    }
    monkeypatch.setattr(found.compute, "call", lambda name, data, seconds: functions[name](data))
    world.exchange.write(lambda tx, now: clusters.put(tx, now, "c2", clusters.Offer(4)))
    return found


def add(world: World, count: int, seed: int) -> None:
    def work(tx: Transaction, now: float) -> None:
        imports.add(tx, now, f"i{seed}", runs(count, seed))
        for _ in range(25):
            tx.run(PLACED)
        tx.run(IN_ROUND)

    world.exchange.write(work)


def turn(world: World) -> str:
    """What the timer's job told."""
    world.background.tidy()
    world.hands.on(61.0)
    assert world.background.work("train")
    return str(json.loads(world.exchange.read(lambda tx: tx.rows(RESULTS))[-1][1])["outcome"])


def test_a_predictor_is_trained_shadowed_promoted_and_refitted(
    world: World, learner: Learner
) -> None:
    assert turn(world) == "too few runs have ended"
    add(world, 300, 0)
    assert turn(world) == "trained on 300 runs"
    assert world.exchange.read(learning.predictor_of) is None  # a shadow is asked by nobody
    assert turn(world) == "v1: wait, 0 runs of 200"
    add(world, 450, 1)
    said = turn(world)
    if "intervals" in said:  # of one drawing they may hold 96 %: the next look decides
        add(world, 400, 2)
        said = turn(world)
    assert said == "v1: promote, all tests passed"
    active = world.exchange.read(learning.predictor_of)
    assert active is not None
    predictor = Predictor.from_bytes(active.data)
    assert predictor.clusters == ("c1", "c2")
    first = training.unpack(training.pack(world.exchange.read(learning.rows)))[0]
    predicted = training.predicted(first, predictor)
    assert predicted.seconds[1].mean() / predicted.seconds[0].mean() == pytest.approx(2.0, rel=0.2)
    again = turn(world)  # the new runs are enough for another one
    assert again.startswith("trained on")
    shadow = world.exchange.read(lambda tx: learning.in_state(tx, "shadow"))
    assert shadow is not None
    assert Predictor.from_bytes(shadow.data).links == predictor.links


def test_a_training_that_is_asked_for_goes_first_and_needs_enough_runs(
    world: World, learner: Learner
) -> None:
    world.exchange.write(lambda tx, now: jobs.ask(tx, now, "train", "asked"))
    assert world.background.work("train")
    state, result = world.exchange.read(lambda tx: tx.rows(RESULTS))[-1]
    assert (state, json.loads(result)) == ("done", {"outcome": "0 measured runs of 50"})
    add(world, 80, 3)
    for _ in range(2):
        world.exchange.write(lambda tx, now: jobs.ask(tx, now, "train", "asked"))
        assert world.background.work("train")
    shadow = world.exchange.read(lambda tx: learning.in_state(tx, "shadow"))
    assert shadow is not None
    assert shadow.version == 2


def test_a_training_that_fails_leaves_nothing_and_the_timer_comes_back(
    world: World, learner: Learner, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(name: str, data: bytes, seconds: float) -> bytes:
        raise ComputeError("took too long", where="compute")

    add(world, 120, 4)
    monkeypatch.setattr(learner.compute, "call", fails)
    world.background.tidy()
    world.hands.on(61.0)
    assert world.background.work("train")
    assert world.exchange.read(lambda tx: learning.in_state(tx, "shadow")) is None
    assert world.exchange.read(lambda tx: tx.rows(RESULTS))[-1][0] == "failed"
    world.background.tidy()
    world.hands.on(61.0)
    assert world.background.work("train")


def test_the_process_beside_the_service_trains(world: World) -> None:
    world.exchange.write(lambda tx, now: clusters.put(tx, now, "c2", clusters.Offer(4)))
    add(world, 120, 5)
    world.exchange.write(lambda tx, now: jobs.ask(tx, now, "train", "asked"))
    assert world.background.work("train")
    shadow = world.exchange.read(lambda tx: learning.in_state(tx, "shadow"))
    assert shadow is not None
    assert Predictor.from_bytes(shadow.data).trained_on == 120
    assert world.service.learning.pid is None  # it is ended after each job

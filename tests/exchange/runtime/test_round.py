"""Rounds as jobs: published whole, with a fallback, or failed; the timer goes on."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Any

import pytest
import sqlalchemy as sa
from tests.exchange.greedy import Greedy
from tests.exchange.runtime.worlds import World

from walras.exchange.errors import ComputeError, StoreError
from walras.exchange.runtime.compute import Compute
from walras.exchange.runtime.exchange import Exchange
from walras.exchange.runtime.planner import Outcome, Played
from walras.exchange.runtime.service import Service
from walras.exchange.service import jobs, rounds, tasks
from walras.exchange.service.timing import Timing
from walras.exchange.store.statements import Statement, Transaction

ROUNDS = Statement(sa.text("SELECT id, state, why FROM round ORDER BY id"))


@dataclass
class Unreliable:
    """A planner whose steps can be made to fail; else it is :class:`Greedy`."""

    decides: bool = True
    falls_back: bool = True
    between: Any = None

    def __post_init__(self) -> None:
        self.inner = Greedy(Timing())

    def policy(self, tx: Transaction) -> str:
        return self.inner.policy(tx)

    def take(self, tx: Transaction, now: float, seed: int) -> Any:
        return self.inner.take(tx, now, seed)

    def decide(self, taken: Any, seconds: float, compute: Compute) -> Outcome:
        if self.between is not None:
            self.between()
        if not self.decides:
            raise ComputeError("took too long", where="compute")
        return self.inner.decide(taken, seconds, compute)

    def fall_back(self, taken: Any, why: str) -> Outcome:
        if not self.falls_back:
            raise ComputeError("broke a rule", where="check")
        return self.inner.fall_back(taken, why)

    def play(
        self,
        exchange: Exchange,
        snapshot: bytes | None,
        changes: dict[str, Any],
        seed: int,
        seconds: float,
        compute: Compute,
    ) -> Played:
        return self.inner.play(exchange, snapshot, changes, seed, seconds, compute)


@pytest.fixture
def planner(world: World) -> Unreliable:
    made = Unreliable()
    world.service.stop()
    world.service = Service.of(world.exchange, made)
    world.background = world.service.background
    world.exchange.stopping.clear()
    return made


def _rounds(world: World) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in world.exchange.read(lambda tx: tx.rows(ROUNDS))]


def test_the_timer_waits_for_tasks_and_for_its_interval(world: World) -> None:
    assert not world.background.work("round")  # nothing waits
    first = world.task()
    assert world.background.work("round")
    assert world.states() == {first: "placed"}
    world.task()
    assert not world.background.work("round")
    world.hands.on(world.exchange.settings.interval)
    assert world.background.work("round")
    assert [row[1] for row in _rounds(world)] == ["published"] * 2


def test_a_round_that_is_asked_for_does_not_wait(world: World) -> None:
    world.task()
    assert world.background.work("round")
    for _ in range(3):
        world.exchange.write(lambda tx, now: jobs.ask(tx, now, "round", "asked"))
    assert world.background.work("round")
    assert not world.background.work("round")
    assert len(_rounds(world)) == 2


def test_where_the_decision_is_late_the_fallback_is_published(
    world: World, planner: Unreliable
) -> None:
    uid = world.task()
    planner.decides = False
    assert world.background.work("round")
    assert _rounds(world) == [(1, "fallback", "compute: took too long")]
    assert world.states() == {uid: "placed"}


def test_where_nothing_passes_the_check_the_round_fails_and_offers_stand(
    world: World, planner: Unreliable
) -> None:
    placed = world.task()
    assert world.background.work("round")
    waiting = world.task()
    planner.decides = planner.falls_back = False
    world.hands.on(world.exchange.settings.interval)
    assert world.background.work("round")
    assert [row[1] for row in _rounds(world)] == ["published", "failed"]
    assert world.states() == {placed: "placed", waiting: "pending"}
    planner.decides = True
    world.hands.on(world.exchange.settings.interval)
    assert world.background.work("round")
    assert world.states() == {placed: "placed", waiting: "placed"}


def test_tasks_that_changed_meanwhile_drop_out(world: World, planner: Unreliable) -> None:
    gone, kept = world.task(), world.task()
    planner.between = lambda: world.exchange.write(
        lambda tx, now: tasks.cancel(tx, now, gone, None)
    )
    assert world.background.work("round")
    assert world.states() == {gone: "cancelled", kept: "placed"}


def test_a_round_of_a_process_that_lost_its_job_is_not_published(
    world: World, planner: Unreliable
) -> None:
    uid = world.task()

    def taken_over() -> None:
        world.hands.on(60.0)  # silent for longer than the job's lease
        other = world.exchange.write(lambda tx, now: jobs.claim(tx, now, "round", "other", 15.0))
        assert other is not None
        world.exchange.write(lambda tx, now: rounds.abandon(tx, now))

    planner.between = taken_over
    world.background._held.clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("walras.exchange.runtime.held.Held.beat", lambda self: True)
        assert world.background.work("round")
    assert _rounds(world) == [(1, "failed", "its process was lost")]
    assert world.states() == {uid: "pending"}


def test_a_publication_that_cannot_be_written_leaves_no_half_round(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    uids = [world.task() for _ in range(3)]

    def full(*_: object, **__: object) -> list[int]:
        publish(*_, **__)  # type: ignore[arg-type]
        raise sqlite3.OperationalError("database or disk is full")

    publish = rounds.publish
    with monkeypatch.context() as patch:
        patch.setattr(rounds, "publish", full)
        assert world.background.work("round")
    assert set(world.states().values()) == {"pending"}
    assert [row[1] for row in _rounds(world)] == ["computing"]
    world.background.tidy()  # the timer that failed is there again
    assert world.background.work("round")
    assert [row[1] for row in _rounds(world)] == ["failed", "published"]
    assert world.states() == dict.fromkeys(uids, "placed")


def test_snapshots_are_kept_of_the_newest_rounds(world: World) -> None:
    def fill(tx: Transaction, now: float) -> None:
        for _ in range(6):
            seq = rounds.begin(tx, now, "{}", 0)
            rounds.publish(tx, now, seq, "published", [], snapshot=b"x", decision=b"y")

    world.exchange.write(fill)
    assert world.exchange.write(lambda tx, now: rounds.forget(tx, 2)) == 4
    kept = Statement(sa.text("SELECT id FROM round WHERE snapshot IS NOT NULL ORDER BY id"))
    assert [row[0] for row in world.exchange.read(lambda tx: tx.rows(kept))] == [5, 6]
    assert world.exchange.write(lambda tx, now: rounds.forget(tx, 2)) == 0


def test_a_store_that_fails_is_tried_again(world: World, planner: Unreliable) -> None:
    world.task()

    def gone() -> None:
        raise StoreError("gone", where="database")

    planner.between = gone
    planner.falls_back = False
    assert world.background.work("round")
    assert [row[1] for row in _rounds(world)] == ["failed"]

"""What goes on by itself: leases, offers and deadlines; jobs over several processes; forgetting."""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import sqlalchemy as sa
from tests.exchange.postgres import Server
from tests.exchange.runtime.worlds import World

from walras.exchange.errors import StoreError
from walras.exchange.runtime.background import Background
from walras.exchange.runtime.exchange import Exchange
from walras.exchange.runtime.held import Held
from walras.exchange.runtime.settings import Settings
from walras.exchange.service import events, idempotency, jobs, outcomes
from walras.exchange.store.statements import Statement, Transaction

COUNTS = {
    name: Statement(sa.text(f"SELECT count(*) FROM {name}"))
    for name in ("idempotency", "event", "job")
}


def _count(exchange: Exchange, name: str) -> int:
    return int(exchange.read(lambda tx: tx.value(COUNTS[name])))


def test_a_silent_agents_runs_are_given_up_after_lease_and_grace(world: World) -> None:
    uid = world.running()
    world.hands.on(74.0)
    world.background.tidy()
    assert world.states() == {uid: "leased"}
    world.hands.on(2.0)
    world.background.tidy()
    assert world.states() == {uid: "pending"}


def test_offers_nobody_takes_and_deadlines_that_passed(world: World) -> None:
    kept = world.task()
    world.background.work("round")
    late = world.task(deadline=world.exchange.now() + 10.0)
    assert world.states() == {kept: "placed", late: "pending"}
    world.hands.on(200.0)
    world.background.tidy()
    assert world.states() == {kept: "pending", late: "expired"}


@pytest.mark.parametrize("seconds", [3600.0, -3600.0])
def test_a_jump_of_the_clock_ends_no_lease(world: World, seconds: float) -> None:
    uid = world.running()
    world.hands.wall += seconds
    world.background.tidy()
    world.background.tidy()
    assert world.states() == {uid: "leased"}
    assert world.leases() == [world.hands.wall + 75.0]


def test_an_extension_that_was_not_written_is_written_later(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    uid = world.running()
    world.hands.wall += 3600.0
    with monkeypatch.context() as patch:
        patch.setattr(outcomes, "extend_leases", _full)
        with pytest.raises(StoreError):
            world.background.tidy()
    world.background.tidy()  # the clock has been looked at; the leases have not been extended
    assert world.states() == {uid: "leased"}
    assert world.leases() == [world.hands.wall + 75.0]


def _full(*_: object) -> int:
    raise StoreError("database or disk is full", where="x")


def test_what_is_old_is_forgotten_but_numbers_do_not_come_again(world: World) -> None:
    exchange = world.exchange

    def fill(tx: Transaction, now: float) -> None:
        for k in range(30):
            idempotency.begin(tx, now, "default", f"k{k}", "x")
            events.tell(tx, now, "x", str(k), tenant=None)
            jobs.enqueue(tx, now, "train", str(k))
            held = jobs.claim(tx, now, "train", "me", 60.0)
            assert held is not None
            jobs.end(tx, held, "done")

    exchange.write(fill)
    assert world.background.forget() == 0
    newest = exchange.read(events.newest)
    world.hands.on(30 * 86400.0)
    assert world.background.forget() >= 80
    assert _count(exchange, "idempotency") == 0
    assert exchange.read(lambda tx: events.after(tx, 0))[0][0] == newest
    exchange.write(lambda tx, now: events.tell(tx, now, "y", "z", tenant=None))
    assert exchange.read(events.newest) == newest + 1


def test_batches_of_keys_are_deleted_the_oldest_first(world: World) -> None:
    exchange = world.exchange
    for k in range(10):
        world.hands.on(1.0)
        exchange.write(lambda tx, now, k=k: idempotency.begin(tx, now, "a", f"{k}", "x"))  # type: ignore[misc]
    before = exchange.now() + 1.0
    assert exchange.write(lambda tx, now: idempotency.forget(tx, before, 4)) == 4
    keys = Statement(sa.text("SELECT key FROM idempotency ORDER BY created"))
    assert [row[0] for row in exchange.read(lambda tx: tx.rows(keys))] == list("456789")


@dataclass
class Work:
    """Does jobs of kind ``train`` and keeps what it did."""

    alone: bool = True
    done: list[str] = field(default_factory=list)
    gate: threading.Event = field(default_factory=threading.Event)
    began: threading.Event = field(default_factory=threading.Event)
    fail: Exception | None = None

    def ensure(self, tx: Transaction, now: float) -> None: ...

    def wanted(self, tx: Transaction, keys: list[str]) -> str | None:
        return keys[0]

    def handle(self, held: Held) -> None:
        self.began.set()
        self.gate.wait(20.0)
        if self.fail is not None:
            raise self.fail
        held.finish(lambda tx, now: self.done.append(held.job.subject), result={"ok": 1})


def _status(exchange: Exchange, number: int) -> dict[str, object]:
    return exchange.read(lambda tx: jobs.status(tx, number))


def test_a_job_is_done_once_and_its_result_is_kept(world: World) -> None:
    work = Work()
    work.gate.set()
    background = Background(world.exchange, {"train": work})
    assert not background.work("train")
    number = world.exchange.write(lambda tx, now: jobs.ask(tx, now, "train", "all"))
    assert background.work("train")
    assert not background.work("train")
    assert work.done == ["all"]
    found = _status(world.exchange, number)
    assert (found["state"], found["result"]) == ("done", {"ok": 1})


def test_a_job_that_fails_says_so_and_hides_faults(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    work = Work(fail=ValueError("the secret"))
    work.gate.set()
    background = Background(world.exchange, {"train": work})
    with caplog.at_level(logging.WARNING):
        for error, message, traced in (
            (ValueError("the secret"), "ValueError", True),
            (StoreError("no room", where="disk"), "disk: no room", False),
        ):
            work.fail = error
            number = world.exchange.write(lambda tx, now: jobs.ask(tx, now, "train", "all"))
            assert background.work("train")
            found = _status(world.exchange, number)
            assert (found["state"], found["result"]) == ("failed", {"error": message})
            assert (caplog.records[-1].exc_info is not None) == traced


@pytest.mark.postgres
def test_two_processes_do_one_job_at_a_time_and_a_lost_one_changes_nothing(
    tmp_path: Path, postgres: Server
) -> None:
    url = postgres.new()
    settings = Settings(job_lease=1.0)
    first = Exchange.open(tmp_path / "one", url, settings=settings)
    second = Exchange.open(tmp_path / "two", url, settings=settings)
    slow, quick = Work(), Work()
    quick.gate.set()
    one, two = Background(first, {"train": slow}), Background(second, {"train": quick})
    try:
        first.write(lambda tx, now: jobs.ask(tx, now, "train", "a"))
        first.write(lambda tx, now: jobs.ask(tx, now, "train", "b"))
        thread = threading.Thread(target=one.work, args=("train",))
        thread.start()
        assert slow.began.wait(20.0)
        assert not two.work("train")  # b is due, and a is held: one at a time
        time.sleep(1.2)  # the first process is silent for longer than its lease
        assert two.work("train")
        assert two.work("train")
        assert sorted(quick.done) == ["a", "b"]
        slow.gate.set()
        thread.join(20.0)
        assert slow.done == ["a"]  # it called its work, whose transaction was undone
        assert [_status(first, n)["attempts"] for n in (1, 2)] == [2, 1]
    finally:
        slow.gate.set()
        first.close()
        second.close()


def test_threads_run_and_end_soon(world: World) -> None:
    work = Work()
    work.gate.set()
    background = Background(world.exchange, {"train": work})
    background.start()
    assert background.healthy
    number = world.exchange.write(lambda tx, now: jobs.ask(tx, now, "train", "all"))
    background.wake("train")
    end = time.monotonic() + 20.0
    while _status(world.exchange, number)["state"] != "done" and time.monotonic() < end:
        time.sleep(0.01)
    assert work.done == ["all"]
    began = time.monotonic()
    background.stop()
    assert time.monotonic() - began < 3.0
    assert not background.healthy

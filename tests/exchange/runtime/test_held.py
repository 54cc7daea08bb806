"""A job that is held: what it made is stored with its end, or not at all."""

from __future__ import annotations

import pytest
from tests.exchange.runtime.worlds import World

from walras.exchange.runtime.held import Held, LostError
from walras.exchange.service import events, jobs


def _held(world: World, lease: float = 15.0) -> Held:
    exchange = world.exchange
    exchange.write(lambda tx, now: jobs.ask(tx, now, "train", "a"))
    job = exchange.write(lambda tx, now: jobs.claim(tx, now, "train", "me", lease))
    assert job is not None
    return Held(exchange, job)


def _count(world: World) -> int:
    return len(world.exchange.read(lambda tx: events.after(tx, 0)))


def test_a_result_may_follow_from_what_was_stored(world: World) -> None:
    held = _held(world)
    assert held.finish(lambda tx, now: 7, state="failed", result=lambda value: {"n": value}) == 7
    assert held.ended
    found = world.exchange.read(lambda tx: jobs.status(tx, held.job.key))
    assert (found["state"], found["result"]) == ("failed", {"n": 7})


def test_a_job_comes_again_after_some_seconds(world: World) -> None:
    held = _held(world)
    held.again(lambda tx, now: None, 5.0, result={"n": 1})
    assert held.ended
    found = world.exchange.read(lambda tx: jobs.status(tx, held.job.key))
    assert (found["state"], found["result"]) == ("waiting", {"n": 1})
    assert found["run_at"] == world.exchange.now() + 5.0


def test_work_that_raises_leaves_the_job_held(world: World) -> None:
    held = _held(world)
    with pytest.raises(ZeroDivisionError):
        held.finish(lambda tx, now: 1 // 0)
    assert not held.ended
    assert world.exchange.read(lambda tx: jobs.status(tx, held.job.key))["state"] == "running"
    assert held.beat()


def test_a_heartbeat_keeps_a_job_and_what_is_lost_is_undone(world: World) -> None:
    exchange = world.exchange
    exchange.write(lambda tx, now: jobs.ask(tx, now, "train", "a"))
    job = exchange.write(lambda tx, now: jobs.claim(tx, now, "train", "me", 15.0))
    assert job is not None
    held = Held(exchange, job)
    world.hands.on(10.0)
    assert held.beat()
    world.hands.on(10.0)
    assert exchange.write(lambda tx, now: jobs.claim(tx, now, "train", "other", 15.0)) is None
    world.hands.on(10.0)
    assert exchange.write(lambda tx, now: jobs.claim(tx, now, "train", "other", 15.0))
    assert not held.beat()
    before = _count(world)
    for end in (held.finish, lambda work: held.again(work, 5.0)):
        with pytest.raises(LostError):
            end(lambda tx, now: events.tell(tx, now, "x", "y", tenant=None))
    assert _count(world) == before

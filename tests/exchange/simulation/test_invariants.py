"""Invariants of the simulation: a schedule that keeps them, and is spoilt by hand, breaks one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from walras.exchange.simulation import invariants
from walras.exchange.simulation.world import Memory, Scale, World
from walras.exchange.store.statements import SQLITE, Transaction

TWO_DISAGREE = (
    "SELECT observation FROM result_audit WHERE state = 'disagreed' GROUP BY observation "
    "HAVING count(*) = 2"
)


@pytest.fixture(scope="module")
def played() -> Iterator[tuple[World, Memory, bytes]]:
    """A schedule in which two audits convicted a provider, and its store."""
    memory = Memory()
    for seed in range(200):
        world = World(seed, memory, Scale(tasks=8, audits=1.0))
        world.run()
        if world.cursor.execute(TWO_DISAGREE).fetchone():
            break
    yield world, memory, memory.raw.serialize()
    memory.close()


def broken(world: World) -> Iterator[str]:
    """What the invariants say of a world's store."""
    tx = Transaction(world.cursor, SQLITE)
    yield from invariants.of_tasks(tx, world.submitted, world.stored)
    assert world.audits is not None
    yield from world.audits.at_end(tx)


def test_a_schedule_that_was_played_keeps_them(played: tuple[World, Memory, bytes]) -> None:
    assert list(broken(played[0])) == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("DELETE FROM task WHERE uid = 't0'", "acknowledged tasks are lost"),
        ("UPDATE placement SET outcome = 'failed' WHERE outcome = 'completed'", "kept failed"),
        ("UPDATE placement SET token = token + 9 WHERE outcome = 'completed'", "an old run of"),
        ("UPDATE task SET state = 'failed' WHERE state = 'succeeded'", "completed and is failed"),
        ("UPDATE placement SET outcome = 'cancelled'", "was observed as cancelled"),
        ("UPDATE task SET version = version + 1", ") and is ("),
        ("UPDATE result_audit SET state = 'asked'", "are under way"),
        ("UPDATE result_audit SET state = 'unanswered'", "is succeeded, and unanswered"),
        ("UPDATE result_audit SET auditor = provider", "audits result"),
        ("UPDATE cluster SET provider = 'other'", "ran audit"),
        ("DELETE FROM result_audit", "was never audited"),
        ("UPDATE task SET auditable = 0", "should not be"),
        ("UPDATE result_audit SET state = 'agreed'", "is convicted by"),
        ("DELETE FROM audit_log", "of its"),
        ("UPDATE observation SET weight = 'used'", "and contradicted by"),
        ("UPDATE observation SET weight = 'audited'", "is audited, and audited by"),
        ("UPDATE audit_log SET subject = 'q'", "is convicted of a result of"),
    ],
)
def test_a_store_that_is_spoilt_breaks_one(
    played: tuple[World, Memory, bytes], change: str, words: str
) -> None:
    world, memory, store = played
    world.cursor.execute(change)
    try:
        assert any(words in what for what in broken(world))
    finally:
        memory.raw.deserialize(store)


def test_nobody_honest_is_contradicted(
    played: tuple[World, Memory, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    world, _, _ = played
    assert world.providers is not None
    monkeypatch.setattr(world.providers, "liars", frozenset())
    said = list(broken(world))
    assert any("both are honest" in what for what in said)
    assert any("is honest and convicted by" in what for what in said)


def test_an_audit_starts_where_it_was_asked_and_alone(
    played: tuple[World, Memory, bytes],
) -> None:
    world, _, _ = played
    tx = Transaction(world.cursor, SQLITE)
    assert world.audits is not None
    assert world.providers is not None
    audits = invariants.Audits(world.providers)
    number, provider = world.cursor.execute(
        f"SELECT observation, provider FROM result_audit WHERE observation IN ({TWO_DISAGREE})"
    ).fetchone()
    rows = world.cursor.execute(
        "SELECT t.uid, a.auditor FROM result_audit a JOIN task t ON t.id = a.task "
        f"WHERE a.observation = {number} ORDER BY a.id"
    ).fetchall()
    place = {name: k for k, name in enumerate(world.providers.of)}
    (first, by), (second, other) = rows
    assert list(audits.started(tx, "t0", place[by], {"t0"})) == []
    assert list(audits.started(tx, first, place[by], {first, "t0"})) == []
    (what,) = audits.started(tx, second, place[other], {first, second})
    assert what == f"two audits of result {number} run at once"
    here, asked = audits.started(tx, first, place[provider], {first})
    assert "whose result it audits" in here
    assert f"{by} was asked" in asked


def test_a_task_that_waits_has_not_ended(played: tuple[World, Memory, bytes]) -> None:
    world, memory, store = played
    tx = Transaction(world.cursor, SQLITE)
    assert world.audits is not None
    assert world.audits.ended(tx)
    world.cursor.execute("UPDATE observation SET review = 1")
    assert not world.audits.ended(tx)
    memory.raw.deserialize(store)
    assert set(invariants.states(tx).values()) <= {"succeeded", "failed", "cancelled", "expired"}

"""Schedules of the exchange with faults: no invariant is broken, and a seed is a schedule."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from walras.exchange.simulation.world import Memory, Scale, World

QUICK, LONG = 2_000, 100_000
CAUGHT = "SELECT count(*) FROM audit_log WHERE action = 'provider.quarantine'"


@pytest.fixture(scope="module")
def memory() -> Iterator[Memory]:
    made = Memory()
    yield made
    made.close()


@pytest.mark.parametrize("part", range(4))
def test_no_schedule_breaks_an_invariant(memory: Memory, part: int) -> None:
    for seed in range(part * QUICK // 4, (part + 1) * QUICK // 4):
        World(seed, memory).run()


@pytest.mark.long
@pytest.mark.parametrize("part", range(20))
def test_no_schedule_of_many_breaks_an_invariant(memory: Memory, part: int) -> None:
    for seed in range(part * LONG // 20, (part + 1) * LONG // 20):
        World(seed, memory).run()


def test_schedules_with_audits_break_no_invariant_and_liars_are_caught(memory: Memory) -> None:
    caught, states = 0, set()
    for seed in range(400):
        world = World(seed, memory, Scale(audits=1.0))
        world.run()
        states |= set(world.cursor.execute("SELECT cause, state FROM result_audit").fetchall())
        caught += world.cursor.execute(CAUGHT).fetchone()[0]
    assert {state for _, state in states} == {"agreed", "disagreed", "unanswered"}
    assert {cause for cause, _ in states} == {"drawn", "second", "rejected"}
    assert caught > 20


@pytest.mark.long
@pytest.mark.parametrize("part", range(10))
def test_many_schedules_with_audits_break_no_invariant(memory: Memory, part: int) -> None:
    for seed in range(part * LONG // 100, (part + 1) * LONG // 100):
        World(seed, memory, Scale(audits=1.0)).run()


def test_larger_worlds_keep_the_invariants(memory: Memory) -> None:
    scale = Scale(tasks=20, agents=5, slots=3, quiet=400.0, audits=0.3)
    for seed in range(60):
        World(seed, memory, scale).run()


def test_a_seed_is_a_schedule(memory: Memory) -> None:
    def played(seed: int) -> tuple[int, float, list[tuple[object, ...]]]:
        world = World(seed, memory)
        syncs = world.run()
        rows = world.cursor.execute("SELECT * FROM placement ORDER BY id").fetchall()
        return syncs, world.now, rows

    assert played(7) == played(7)
    assert played(7) != played(8)

"""A service that starts on a backup: what ran on meanwhile ends, and nothing runs twice."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from tests.exchange.runtime.worlds import World

from walras.exchange.service import clusters, restored, tasks
from walras.exchange.service.check import findings
from walras.exchange.service.messages import Finished, Running
from walras.exchange.store.backup import backup, restore
from walras.exchange.store.statements import Statement

TOKENS = Statement(sa.text("SELECT uid, token FROM task ORDER BY id"))


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path / "home")
    yield made
    made.close()


def _back(world: World, tmp_path: Path) -> None:
    """Put the backup back and start."""
    world.close()
    restore(tmp_path / "copy.db", tmp_path / "home" / "exchange.db")
    world.open()


def test_runs_of_after_a_backup_end_before_their_tasks_are_offered_again(
    world: World, tmp_path: Path
) -> None:
    first = world.running()
    second = world.task()
    backup(world.exchange.url, tmp_path / "copy.db")
    world.hands.on(20.0)
    assert world.background.work("round")
    (grant,) = world.sync(running=[Running(1, 1)]).run
    assert grant.task == second
    run = Running(grant.placement, grant.token)
    world.sync(running=[run, Running(1, 1)])
    _back(world, tmp_path)
    assert world.states() == {first: "pending", second: "pending"}
    assert not world.background.work("round")  # old runs may be alive
    answer = world.sync(running=[run, Running(1, 1)], free=2)
    assert {(p, t) for p, t, _ in answer.stop} == {(grant.placement, grant.token), (1, 1)}
    assert answer.run == []
    world.hands.on(60.0)
    assert world.sync().run == []
    world.hands.on(26.0)
    assert world.background.work("round")
    grants = world.sync(free=4).run
    assert {one.task for one in grants} == {first, second}
    assert all(one.token > restored.STEP for one in grants)
    # A number of a placement that comes again is not the same run.
    assert {one.placement for one in grants} & {grant.placement}
    late = Finished(grant.placement, grant.token, "completed", 5.0)
    assert world.sync(finished=[late]).ack == [(grant.placement, grant.token, "stale")]
    assert world.exchange.read(findings) == []


def test_what_had_ended_stays_and_what_was_to_be_cancelled_is(world: World, tmp_path: Path) -> None:
    done = world.running()
    world.sync(finished=[Finished(1, 1, "completed", 1.0)])
    going = world.running()
    world.exchange.write(lambda tx, now: tasks.cancel(tx, now, going, None))
    offered = world.task()
    world.hands.on(20.0)
    assert world.background.work("round")
    backup(world.exchange.url, tmp_path / "copy.db")
    _back(world, tmp_path)
    assert world.states() == {done: "succeeded", going: "cancelled", offered: "pending"}
    tokens: dict[str, int] = dict(world.exchange.read(lambda tx: tx.rows(TOKENS)))
    assert tokens == {done: 1, going: 1, offered: restored.STEP}
    assert world.exchange.read(findings) == []


def test_runs_that_cannot_end_by_themselves_stay_with_their_agents(
    world: World, tmp_path: Path
) -> None:
    world.exchange.write(lambda tx, now: tx.run(Statement(sa.text("UPDATE agent SET fences = 0"))))
    uid = world.running()
    backup(world.exchange.url, tmp_path / "copy.db")
    _back(world, tmp_path)
    assert world.states() == {uid: "leased"}
    assert world.sync(running=[Running(1, 1)]).stop == []
    assert world.states() == {uid: "running"}


def test_a_start_that_is_none_of_a_backup_changes_nothing(world: World) -> None:
    uid = world.running()
    world.close()
    world.open()
    assert world.states() == {uid: "leased"}
    assert world.exchange.read(restored.offers_after) == 0.0
    world.exchange.write(lambda tx, now: restored.mark(tx))
    world.exchange.write(lambda tx, now: clusters.set_state(tx, now, "c1", "cordoned"))
    timing = world.exchange.settings.timing
    for k in range(2):
        world.exchange.write(lambda tx, now: restored.mark(tx))
        assert world.exchange.write(lambda tx, now: restored.make_good(tx, now, timing)), k
        after = world.exchange.read(restored.offers_after)
        assert after == world.exchange.now() + 85.0
        world.hands.on(5.0)
    assert not world.exchange.write(lambda tx, now: restored.make_good(tx, now, timing))

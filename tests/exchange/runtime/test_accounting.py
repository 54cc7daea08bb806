"""The job that accounts for rounds: it recurs, and stores the parts."""

from __future__ import annotations

import sqlalchemy as sa
from tests.exchange.runtime.worlds import World

from walras.exchange.service.messages import Finished
from walras.exchange.store.statements import Statement

REGRETS = Statement(sa.text("SELECT regret IS NOT NULL FROM round ORDER BY id"))


def test_rounds_are_accounted_for_when_their_runs_have_ended(world: World) -> None:
    world.task()
    world.hands.on(world.exchange.settings.interval)
    assert world.background.work("round")
    (run,) = world.sync().run

    def turn() -> list[bool]:
        world.background.tidy()
        world.hands.on(31.0)
        assert world.background.work("regret")
        return [bool(row[0]) for row in world.exchange.read(lambda tx: tx.rows(REGRETS))]

    assert turn() == [False]
    world.sync(finished=[Finished(run.placement, run.token, "completed", 1.0, 0)])
    assert turn() == [True]
    assert turn() == [True]

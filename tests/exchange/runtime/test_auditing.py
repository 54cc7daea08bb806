"""The job that audits: it recurs, asks for audits and judges them."""

from __future__ import annotations

from typing import Any

from tests.exchange.runtime.worlds import World

from walras.exchange.service import audits, clusters
from walras.exchange.service.messages import Answer, Finished, Sync
from walras.exchange.service.sync import sync


def test_a_result_is_run_again_at_another_provider_in_a_later_round(world: World) -> None:
    exchange, timing = world.exchange, world.exchange.settings.timing

    def turn(kind: str) -> None:
        world.background.tidy()
        world.hands.on(exchange.settings.interval)
        assert world.background.work(kind)

    def second(seq: int, finished: tuple[Finished, ...] = ()) -> Answer:
        message = Sync(1, seq, 4, (), finished)
        return exchange.write(lambda tx, now: sync(tx, now, "a2", message, timing))

    def only() -> dict[str, Any]:
        (found,) = exchange.read(lambda tx: audits.page(tx, 10, None))[0]
        return found

    uid = world.task(auditable=True)
    turn("round")
    (run,) = world.sync().run
    world.hands.on(5.0)
    world.sync(finished=[Finished(run.placement, run.token, "completed", 5.0, 0)])
    exchange.write(lambda tx, now: clusters.put(tx, now, "c2", clusters.Offer(4)))
    exchange.write(lambda tx, now: clusters.register(tx, now, "a2", "c2", "local", True))
    second(1)
    turn("audit")
    assert (only()["task"], only()["state"], only()["auditor"]) == (uid, "asked", "c2")
    turn("round")
    (again,) = second(2).run
    assert again.task == only()["audit_task"]
    world.hands.on(6.0)
    second(3, (Finished(again.placement, again.token, "completed", 6.0, 0),))
    turn("audit")
    assert only()["state"] == "agreed"

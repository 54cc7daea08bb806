"""Runs that have ended, predicted and measured; on both databases."""

from __future__ import annotations

from tests.exchange.service.east import agent, given, say

from walras.exchange.service import runs
from walras.exchange.service.messages import Finished
from walras.exchange.store.database import Database


def _ended(database: Database) -> None:
    agent(database)
    given(database, 2)
    first, second = say(database, 10.0, 1).run
    done = [
        Finished(first.placement, first.token, "completed", 30.0),
        Finished(second.placement, second.token, "failed", 20.0),
    ]
    say(database, 40.0, 2, finished=done)


def test_a_page_has_the_newest_first_and_goes_on(database: Database) -> None:
    _ended(database)
    (one,), cursor = database.read(lambda tx: runs.page(tx, None, None, 1, None))
    assert (one["outcome"], one["seconds"], one["cluster"], one["round"]) == (
        "failed",
        22.0,
        "east",
        1,
    )
    assert one["chance"] is None, "its placement has no receipt"
    assert cursor == str(one["id"])
    rest, end = database.read(lambda tx: runs.page(tx, None, None, 5, int(cursor or 0)))
    assert [run["outcome"] for run in rest] == ["completed"]
    assert end is None


def test_a_page_is_of_a_tenant_and_of_a_cluster(database: Database) -> None:
    _ended(database)
    for owner, at, count in (
        ("lab", None, 2),
        ("other", None, 0),
        (None, "east", 2),
        ("lab", "east", 2),
        (None, "west", 0),
    ):
        with database.reading() as tx:
            assert len(runs.page(tx, owner, at, 5, None)[0]) == count

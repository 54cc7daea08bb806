"""What an operator looks at first; on both databases."""

from __future__ import annotations

from tests.exchange.service.east import agent, given, say

from walras.exchange.service import jobs, status
from walras.exchange.store.database import Database


def test_it_counts_what_is_open_and_says_who_is_heard(database: Database) -> None:
    agent(database)
    given(database, 3)
    say(database, 10.0, 1, free=1)
    database.write(lambda tx: jobs.enqueue(tx, 0.0, "train", "asked"))
    found = database.read(status.open_tasks)
    assert found == {"pending": 0, "placed": 2, "leased": 1, "running": 0, "held": 0}
    assert database.read(status.open_jobs) == {"train": 1}
    (one,) = database.read(lambda tx: status.agents(tx, 10.0))
    assert one == {
        "uid": "one",
        "cluster": "east",
        "backend": "local",
        "fences": True,
        "free": 1,
        "seen": 10.0,
        "heard": True,
    }
    assert not database.read(lambda tx: status.agents(tx, 10.1))[0]["heard"]
    assert database.read(status.last_backup) is None

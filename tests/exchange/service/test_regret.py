"""The three parts of a round's regret, by hand and from the store."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing

import pytest
import sqlalchemy as sa

from walras.exchange.service import clusters, rounds, tasks, tokens
from walras.exchange.service.messages import Finished, Sync
from walras.exchange.service.regret import Run, account, regret
from walras.exchange.service.sync import sync
from walras.exchange.service.timing import Timing
from walras.exchange.store.database import Database, open_database
from walras.exchange.store.migrate import migrate
from walras.exchange.store.statements import Statement

PENDING = Statement(sa.text("SELECT id, version FROM task WHERE state = 'pending' ORDER BY id"))
REGRETS = Statement(sa.text("SELECT regret FROM round ORDER BY id"))


def test_parts_are_of_the_same_plan() -> None:
    runs = [
        Run(1, 2, 1, 4.0, 5.0),
        Run(1, 2, 2, 6.0, 3.0),
        Run(2, 4, 1, 7.0, 9.0),
        Run(2, 4, 1, None, 50.0),
        Run(3, 1, 1, 90.0, None),
    ]
    found = regret(10.0, 8.0, 0.2, runs)
    assert found["solver"] == {"seconds": 2.0, "gap": 0.2}
    # Cluster 1: (4 + 12) / 2 = 8 expected, (5 + 6) / 2 = 5.5 measured; cluster 2: 7 and 9.
    assert found["prediction"] == {"predicted": 8.0, "measured": 9.0, "seconds": 1.0}
    assert (found["runs"], found["left_out"]) == (3, 2)
    assert found["not_observable"] == "what other plans would have taken"


def test_what_is_not_known_is_not_made_up() -> None:
    found = regret(None, None, None, [Run(1, 1, 1, None, 3.0)])
    assert (found["solver"], found["prediction"], found["left_out"]) == (None, None, 1)
    assert regret(5.0, 5.1, 0.0, [])["solver"] == {"seconds": 0.0, "gap": 0.0}


@pytest.fixture
def database(new_url: Callable[[], str]) -> Database:
    url = new_url()
    migrate(url)
    return open_database(url)


def test_a_round_is_accounted_for_once_all_its_runs_have_ended(database: Database) -> None:
    timing = Timing()
    with closing(database):
        database.write(lambda tx: tokens.add_tenant(tx, 1.0, "lab"))
        database.write(lambda tx: clusters.put(tx, 1.0, "c1", clusters.Offer(4)))
        database.write(lambda tx: clusters.register(tx, 1.0, "a1", "c1", "local", True))
        made = [tasks.NewTask(f"t{k}", f"n{k}", ("true",)) for k in range(2)]
        database.write(lambda tx: tasks.submit(tx, 2.0, "lab", made))
        rows = database.read(lambda tx: tx.rows(PENDING))
        plan = [rounds.Placed(key, version, 1, 1, predicted=4.0) for key, version in rows]
        seq = database.write(lambda tx: rounds.begin(tx, 3.0, "{}", 1))
        assert database.write(account) == 0  # it computes
        database.write(
            lambda tx: rounds.publish(
                tx, 4.0, seq, "published", plan, makespan=4.0, bound=3.0, gap=0.25
            )
        )
        run = database.write(lambda tx: sync(tx, 10.0, "a1", Sync(1, 1, 4), timing)).run
        assert database.write(account) == 0
        ended = [Finished(run[0].placement, run[0].token, "completed", 7.0, 0)]
        database.write(lambda tx: sync(tx, 17.0, "a1", Sync(1, 2, 4, [], ended), timing))
        assert database.write(account) == 0
        lost = [Finished(run[1].placement, run[1].token, "failed", 8.0, 1)]
        database.write(lambda tx: sync(tx, 18.0, "a1", Sync(1, 3, 4, [], lost), timing))
        assert database.write(account) == 1
        assert database.write(account) == 0
        found = json.loads(database.read(lambda tx: tx.rows(REGRETS))[0][0])
        assert found["solver"] == {"seconds": 1.0, "gap": 0.25}
        assert found["prediction"] == {"predicted": 4.0, "measured": 7.0, "seconds": 3.0}
        assert (found["runs"], found["left_out"]) == (1, 1)

"""Rounds are begun, published at once, failed, abandoned and forgotten."""

from __future__ import annotations

import pytest
import sqlalchemy as sa
from tests.exchange.service.east import TIMING, agent, given, say, states

from walras.exchange.service import clusters, listings, rounds, tasks
from walras.exchange.store.database import Database
from walras.exchange.store.statements import Statement


def test_a_round_keeps_how_it_ended_and_ends_once(database: Database) -> None:
    seq = database.write(lambda tx: rounds.begin(tx, 3.0, '{"floor":0.5}', 9))
    assert database.write(lambda tx: rounds.end(tx, 4.0, seq, "failed", why="no time")) is True
    assert database.write(lambda tx: rounds.end(tx, 5.0, seq, "published")) is False
    found = database.read(lambda tx: listings.one_round(tx, seq))
    wanted = {"state": "failed", "why": "no time", "ended": 4.0, "seed": 9}
    assert {name: found[name] for name in wanted} == wanted
    assert found["policy"] == {"floor": 0.5}


def test_a_round_whose_process_was_lost_has_failed(database: Database) -> None:
    given(database)
    seq = database.write(lambda tx: rounds.begin(tx, 3.0, "{}", 0))
    assert database.write(lambda tx: rounds.abandon(tx, 4.0)) == 1
    assert database.write(lambda tx: rounds.abandon(tx, 5.0)) == 0
    shown, _ = database.read(lambda tx: listings.rounds(tx, 9, None))
    assert [(r["seq"], r["state"]) for r in shown] == [(seq, "failed"), (seq - 1, "published")]
    assert shown[0]["why"] == "its process was lost"


def test_offers_older_than_their_time_or_of_a_silent_cluster_go_back(database: Database) -> None:
    given(database)  # offered at 2; no agent was ever heard
    assert database.write(lambda tx: rounds.withdraw(tx, 2.0 + TIMING.offer, TIMING)) == 0
    assert database.write(lambda tx: rounds.withdraw(tx, 2.1 + TIMING.offer, TIMING)) == 1
    assert states(database)[0][0] == "pending"


def test_an_offer_of_a_cluster_that_fell_silent_goes_back(database: Database) -> None:
    agent(database)
    say(database, 1.0, 1)
    given(database)
    assert database.write(lambda tx: rounds.withdraw(tx, 1.0 + TIMING.held, TIMING)) == 0
    assert database.write(lambda tx: rounds.withdraw(tx, 1.1 + TIMING.held, TIMING)) == 1


def test_only_the_newest_rounds_keep_their_snapshots(database: Database) -> None:
    for _ in range(4):
        seq = database.write(lambda tx: rounds.begin(tx, 3.0, "{}", 0))
        database.write(
            lambda tx, seq=seq: rounds.end(  # type: ignore[misc]
                tx, 4.0, seq, "published", snapshot=b"s", decision=b"d"
            )
        )
    assert database.write(lambda tx: rounds.forget(tx, 1)) == 3
    assert database.write(lambda tx: rounds.forget(tx, 1)) == 0
    kept = Statement(sa.text("SELECT id FROM round WHERE snapshot IS NOT NULL"))
    assert database.read(lambda tx: tx.rows(kept)) == [(seq,)]


def test_a_plan_leaves_out_what_changed_since(database: Database) -> None:
    made = [tasks.NewTask(f"t-{k}", f"n-{k}", ("true",)) for k in range(2)]
    database.write(lambda tx: tasks.submit(tx, 1.0, "lab", made))
    keys = database.read(lambda tx: tx.rows(Statement(sa.text("SELECT id FROM task ORDER BY id"))))
    database.write(lambda tx: tasks.cancel(tx, 2.0, "t-0", None))
    plan = [rounds.Placed(key, 0, 1, 1) for (key,) in keys]
    seq = database.write(lambda tx: rounds.begin(tx, 3.0, "{}", 0))
    placed = database.write(lambda tx: rounds.publish(tx, 3.0, seq, "published", plan))
    assert placed == [keys[1][0]]
    with pytest.raises(RuntimeError, match="has ended before"):
        database.write(lambda tx: rounds.publish(tx, 4.0, seq, "published", []))


def test_offers_that_nobody_takes_are_withdrawn(database: Database) -> None:
    agent(database)
    say(database, 1.0, 1)
    given(database)
    assert database.write(lambda tx: rounds.withdraw(tx, 3.0, TIMING)) == 0
    database.write(lambda tx: clusters.set_state(tx, 4.0, "east", "draining"))
    assert database.write(lambda tx: rounds.withdraw(tx, 5.0, TIMING)) == 1
    assert states(database)[0][0] == "pending"

"""Which results are audited, and what a forgery costs its provider."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator

import pytest
import sqlalchemy as sa

from walras.exchange.errors import NotFoundError
from walras.exchange.service import clusters, imports, learning, tokens, trust
from walras.exchange.store.database import Database, open_database
from walras.exchange.store.migrate import migrate
from walras.exchange.store.statements import Statement, Transaction

WEIGHTS = Statement(
    sa.text(
        "SELECT c.provider, o.weight FROM observation o JOIN cluster c ON c.id = o.cluster "
        "ORDER BY o.id"
    )
)
AUDITED = Statement(sa.text("SELECT actor, action, subject, data FROM audit_log"))


@pytest.fixture
def database(new_url: Callable[[], str]) -> Iterator[Database]:
    url = new_url()
    migrate(url)
    made = open_database(url)
    made.write(_begin)
    yield made
    made.close()


def _begin(tx: Transaction) -> None:
    tokens.add_tenant(tx, 1.0, "default")
    clusters.put(tx, 1.0, "a", clusters.Offer(4, provider="p"))
    clusters.put(tx, 1.0, "b", clusters.Offer(4, provider="p"))
    clusters.put(tx, 1.0, "c", clusters.Offer(4, provider="q"))
    clusters.put(tx, 1.0, "own", clusters.Offer(4, provider="us", trusted=True))
    _runs(tx, "first", ["a", "b", "c", "own"])


def _runs(tx: Transaction, batch: str, names: list[str], outcome: str = "completed") -> None:
    imports.add(tx, 100.0, batch, [imports.Past(n, {"x": 1.0}, outcome, 5.0, 9.0) for n in names])


def test_every_result_is_audited_below_ten_and_one_in_twenty_at_least() -> None:
    assert [trust.audit_chance(k) for k in (0, 9)] == [1.0, 1.0]
    assert [trust.audit_chance(k) for k in (10, 16, 20, 21, 10**6)] == [
        0.1, 1 / 16, 0.05, 0.05, 0.05,
    ]  # fmt: skip


def test_forgeries_survive_no_more_often_than_stated() -> None:
    """k of them with at most 0.95^k: 20,000 drawings a row."""
    rng = random.Random(0)
    for valid, k in ((0, 1), (10, 5), (100, 10), (1000, 40)):
        survived = sum(
            all(rng.random() >= trust.audit_chance(valid) for _ in range(k)) for _ in range(20_000)
        )
        bound = 0.95**k
        assert survived / 20_000 <= bound + 4.0 * (bound * (1.0 - bound) / 20_000) ** 0.5


def test_candidates_are_completed_runs_of_providers_that_are_not_trusted(
    database: Database,
) -> None:
    database.write(lambda tx: _runs(tx, "bad", ["a"], "failed"))
    found = database.read(lambda tx: trust.candidates(tx, 0))
    assert [(one.observation, one.provider, one.chance) for one in found] == [
        (1, "p", 1.0), (2, "p", 1.0), (3, "q", 1.0),
    ]  # fmt: skip
    assert [one.observation for one in database.read(lambda tx: trust.candidates(tx, 1))] == [2, 3]
    database.write(lambda tx: _runs(tx, "more", ["a"] * 12))
    assert all(database.write(lambda tx: [trust.confirm(tx, k) for k in range(6, 18)]))
    assert not database.write(lambda tx: trust.confirm(tx, 6))  # it was confirmed before
    assert database.read(lambda tx: trust.valid_in_a_row(tx, "p")) == 12
    assert database.read(lambda tx: trust.candidates(tx, 0))[0].chance == pytest.approx(1 / 12)


def test_a_forgery_costs_all_that_was_confirmed(database: Database) -> None:
    database.write(lambda tx: trust.confirm(tx, 1))
    count = database.write(lambda tx: trust.contradict(tx, 50.0, 2, "admin", "another result"))
    assert count == 2
    assert [tuple(row) for row in database.read(lambda tx: tx.rows(WEIGHTS))] == [
        ("p", "quarantined"), ("p", "quarantined"), ("q", "used"), ("us", "used"),
    ]  # fmt: skip
    assert len(database.read(learning.rows)) == 2
    ((actor, action, subject, data),) = database.read(lambda tx: tx.rows(AUDITED))
    assert (actor, action, subject) == ("admin", "provider.quarantine", "p")
    assert json.loads(data) == {"result": 2, "why": "another result", "quarantined": 2}
    database.write(lambda tx: _runs(tx, "later", ["a"]))
    database.write(lambda tx: trust.confirm(tx, 5))
    assert database.read(lambda tx: trust.valid_in_a_row(tx, "p")) == 1
    with pytest.raises(NotFoundError, match="there is no result 99"):
        database.write(lambda tx: trust.contradict(tx, 50.0, 99, "admin", "no"))

"""Which results are audited, and what a forgery costs its provider."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator

import pytest
import sqlalchemy as sa

from walras.exchange.errors import NotFoundError
from walras.exchange.service import clusters, imports, learning, tokens, trust
from walras.exchange.service.trust import Ran
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


@pytest.mark.parametrize(
    ("claimed", "again", "why"),
    [
        # The same work on clusters of equal speed, of a slower one, and after a queue.
        (Ran("completed", 0, 10.0, 10.0, 5.0), Ran("completed", 0, 10.0, 10.0), ""),
        (Ran("completed", 0, 10.0), Ran("completed", 0, 60.0), ""),
        (Ran("completed", 0, 900.0, 10.0, 5.0), Ran("completed", 0, 10.0, 10.0), ""),
        (Ran("completed", None, 10.0), Ran("completed", 0, 10.0), ""),
        # A task that was harder or easier than predicted, on both.
        (Ran("completed", 0, 3.0, 10.0, 6.0), Ran("completed", 0, 5.0, 20.0), ""),
        (Ran("completed", 0, 40.0, 10.0, 6.0), Ran("completed", 0, 80.0, 20.0), ""),
        # A queue before the audit proves nothing of the claimed one.
        (Ran("completed", 0, 4.0, 10.0, 6.0), Ran("completed", 0, 9000.0, 20.0), ""),
        (Ran("completed", 0, 2.9, 10.0, 6.0), Ran("completed", 0, 20.0, 20.0), "took 2.9 s"),
        (Ran("completed", 0, 0.9), Ran("completed", 0, 10.0), "took 0.9 s"),
        (Ran("completed", 0, 10.0), Ran("failed", 1, 10.0), "ends as failed elsewhere"),
        (Ran("completed", 0, 10.0), Ran("timeout", None, 10.0), "ends as timeout elsewhere"),
        (Ran("completed", 3, 10.0), Ran("completed", 0, 10.0), "has exit code 3, and 0"),
    ],
)
def test_what_agrees(claimed: Ran, again: Ran, why: str) -> None:
    found = trust.disagreement(claimed, again)
    assert found.startswith(why)
    assert bool(found) == bool(why)


def test_drawings_are_even_and_follow_from_the_secret() -> None:
    draws = sorted(trust.drawn("secret", "audit", k) for k in range(4000))
    assert max(abs(d - (k + 0.5) / 4000) for k, d in enumerate(draws)) < 0.03  # Kolmogorov
    assert trust.drawn("other", "audit", 1) != trust.drawn("secret", "audit", 1)


def test_results_that_are_confirmed_count_until_one_is_a_forgery(database: Database) -> None:
    database.write(lambda tx: _runs(tx, "more", ["a"] * 12))
    assert all(database.write(lambda tx: [trust.confirm(tx, k) for k in range(5, 17)]))
    assert not database.write(lambda tx: trust.confirm(tx, 6))  # it was confirmed before
    assert database.read(lambda tx: trust.valid_in_a_row(tx, "p")) == 12
    assert database.write(lambda tx: trust.dispute(tx, 5))
    assert database.read(lambda tx: trust.valid_in_a_row(tx, "p")) == 11  # and the others stay
    assert not database.write(lambda tx: trust.confirm(tx, 5))
    assert len(database.read(learning.rows)) == 15


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

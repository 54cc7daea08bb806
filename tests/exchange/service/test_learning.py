"""What predictors learn from and which is asked, on both databases."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import numpy as np
import pytest
import sqlalchemy as sa

from walras.exchange.service import clusters, imports, learning, predictors, tokens
from walras.exchange.service.promotion import Verdict
from walras.exchange.store.database import Database, open_database
from walras.exchange.store.migrate import migrate
from walras.exchange.store.statements import Statement, Transaction

QUARANTINE = Statement(sa.text("UPDATE observation SET weight = 'quarantined' WHERE id = 2"))
AUDITED = Statement(sa.text("SELECT action, subject, data FROM audit_log ORDER BY id"))
STATES = Statement(sa.text("SELECT version, state, model IS NULL FROM predictor ORDER BY version"))


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
    for name, slots in (("east", 4), ("west", 2)):
        clusters.put(tx, 1.0, name, clusters.Offer(slots))
    runs = [
        imports.Past("west", {"rows": 2.0, "depth": 3.0}, "completed", 5.0, 10.0),
        imports.Past("east", {"rows": 4.0, "depth": 1.0}, "failed", 7.0, 11.0, 2),
        imports.Past("east", {"rows": 8.0, "depth": 0.5}, "completed", 9.0, 12.0),
        imports.Past("east", {"other": 1.0}, "completed", 1.0, 13.0),
    ]
    imports.add(tx, 100.0, "i", runs)


def test_rows_are_of_the_features_that_most_runs_have(database: Database) -> None:
    found = database.read(learning.rows)
    assert found.feature_names == ("depth", "rows")
    np.testing.assert_array_equal(found.features, [[3, 2], [1, 4], [0.5, 8]])
    assert [found.clusters[i] for i in found.cluster] == ["west", "east", "east"]
    np.testing.assert_array_equal(found.seconds, [5.0, np.nan, 9.0])
    assert found.success.tolist() == [1.0, 0.0, 1.0]
    assert (found.size.tolist(), found.propensity.tolist()) == ([1, 2, 1], [1.0] * 3)
    assert dict(zip(found.clusters, found.slots, strict=True)) == {"east": 4.0, "west": 2.0}
    assert found.last == 3
    assert found.round.tolist() == [-1, -1, -1]


def test_rows_after_one_newest_first_of_other_features_and_none(database: Database) -> None:
    assert len(database.read(lambda tx: learning.rows(tx, 1))) == 2
    assert database.read(lambda tx: learning.rows(tx, most=1)).seconds.tolist() == [9.0]
    other = database.read(lambda tx: learning.rows(tx, names=("other",)))
    assert other.features.tolist() == [[1.0]]
    assert len(database.read(lambda tx: learning.rows(tx, names=("none",)))) == 0


def test_quarantined_rows_teach_nothing(database: Database) -> None:
    database.write(lambda tx: tx.run(QUARANTINE))
    assert database.read(learning.rows).success.tolist() == [1.0, 1.0]
    assert database.read(learning.fresh) == 3


def test_a_shadow_is_stored_judged_promoted_and_rolled_back(database: Database) -> None:
    assert database.read(learning.predictor_of) is None

    def stored(data: bytes, to: int) -> int:
        return database.write(lambda tx: learning.store(tx, 20.0, data, ("east",), to, {"runs": 1}))

    assert (stored(b"a", 2), database.read(learning.fresh)) == (1, 2)
    assert database.read(learning.predictor_of) is None

    def judged(decision: str) -> None:
        verdict = Verdict(decision, "so", {"runs": 200})  # type: ignore[arg-type]

        def work(tx: Transaction) -> None:
            shadow = learning.in_state(tx, "shadow")
            assert shadow is not None
            learning.decide(tx, 30.0, shadow, verdict)

        database.write(work)

    judged("wait")
    waiting = database.read(lambda tx: learning.in_state(tx, "shadow"))
    assert waiting is not None
    assert waiting.scores == {"runs": 1, "why": "so", "look": {"runs": 200}}
    judged("promote")
    found = database.read(learning.predictor_of)
    assert found is not None
    assert (found.name, found.data, found.clusters) == ("v1", b"a", ("east",))
    assert stored(b"b", 4) == 2
    assert stored(b"c", 4) == 3  # takes the place of the second
    judged("promote")
    stored(b"d", 4)
    judged("reject")
    assert [tuple(row) for row in database.read(lambda tx: tx.rows(STATES))] == [
        (1, "retired", 0), (2, "rejected", 1), (3, "active", 0), (4, "rejected", 1),
    ]  # fmt: skip
    assert database.write(lambda tx: predictors.rollback(tx, 50.0, "admin")) == 1
    audited = [(a, s, json.loads(d)) for a, s, d in database.read(lambda tx: tx.rows(AUDITED))]
    assert audited == [
        ("predictor.promote", "1", {}),
        ("predictor.reject", "2", {"why": "a newer one was trained"}),
        ("predictor.promote", "3", {}),
        ("predictor.reject", "4", {"why": "so"}),
        ("predictor.rollback", "1", {}),
    ]

"""One predictor is in use; it is promoted, and the one before it comes back."""

from __future__ import annotations

import pytest

from walras.exchange.errors import ConflictError, NotFoundError
from walras.exchange.service import audit, listings, predictors
from walras.exchange.store.database import Database
from walras.exchange.store.schema import predictor
from walras.exchange.store.statements import inserting

_INSERT = inserting(predictor)


@pytest.fixture
def database(empty: Database) -> Database:
    """Predictors 1 to 4: one in use, two that may be, one that was rejected."""
    for version, state in enumerate(("active", "shadow", "shadow", "rejected"), 1):
        row = {
            "version": version,
            "state": state,
            "sha256": "0",
            "clusters": "[]",
            "trained_to": 0,
            "scores": "{}",
            "model": b"x",
            "created": 1.0,
            "decided": None,
        }
        empty.write(lambda tx, row=row: tx.run(_INSERT, **row))  # type: ignore[misc]
    return empty


def _states(database: Database) -> dict[int, str]:
    shown, _ = database.read(lambda tx: listings.predictors(tx, 9, None))
    return {one["version"]: one["state"] for one in shown}


def test_one_is_active_at_a_time_and_the_one_before_comes_back(database: Database) -> None:
    for now, version in ((2.0, 2), (3.0, 3)):
        database.write(lambda tx, n=now, v=version: predictors.promote(tx, n, v, "ann"))  # type: ignore[misc]
    assert _states(database) == {1: "retired", 2: "retired", 3: "active", 4: "rejected"}
    assert database.write(lambda tx: predictors.rollback(tx, 4.0, "bob")) == 2
    assert _states(database) == {1: "retired", 2: "active", 3: "retired", 4: "rejected"}
    log = database.read(lambda tx: audit.page(tx, 0, 9))
    assert [row[2:5] for row in log] == [
        ("ann", "predictor.promote", "2"),
        ("ann", "predictor.promote", "3"),
        ("bob", "predictor.rollback", "2"),
    ]


def test_what_cannot_be_promoted_is_refused(database: Database) -> None:
    with pytest.raises(NotFoundError, match="no predictor 9"):
        database.write(lambda tx: predictors.promote(tx, 2.0, 9, "ann"))
    for version, state in ((1, "active"), (4, "rejected")):
        with pytest.raises(ConflictError, match=f"predictor {version}: is {state}"):
            database.write(lambda tx, v=version: predictors.promote(tx, 2.0, v, "ann"))  # type: ignore[misc]
    with pytest.raises(ConflictError, match="no earlier one"):
        database.write(lambda tx: predictors.rollback(tx, 2.0, "ann"))

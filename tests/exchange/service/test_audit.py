"""The audit log is a chain: whatever is changed in it, the first wrong entry is found."""

from __future__ import annotations

import hashlib

import pytest
import sqlalchemy as sa

from walras.exchange.service import audit
from walras.exchange.store.database import Database
from walras.exchange.store.statements import Statement


def _filled(database: Database) -> None:
    for k in range(4):
        database.write(
            lambda tx, k=k: audit.record(tx, k + 0.5, "ann", "token.create", f"k{k}", {"n": k})  # type: ignore[misc]
        )


def test_an_entry_holds_the_hash_of_the_one_before(empty: Database) -> None:
    _filled(empty)
    entries = empty.read(lambda tx: audit.page(tx, 0, 10))
    assert [row[6] for row in entries] == [audit.FIRST, *(row[7] for row in entries[:-1])]
    whole = f'["{audit.FIRST}",0.5,"ann","token.create","k0","{{\\"n\\":0}}"]'
    assert entries[0][7] == hashlib.sha256(whole.encode()).hexdigest()
    assert [row[0] for row in empty.read(lambda tx: audit.page(tx, 1, 2))] == [2, 3]
    assert empty.read(audit.broken) is None


@pytest.mark.parametrize(
    ("change", "first"),
    [
        ("UPDATE audit_log SET actor = 'bob' WHERE id = 2", 2),
        ("UPDATE audit_log SET at = 9.0 WHERE id = 4", 4),
        ("UPDATE audit_log SET data = '{}' WHERE id = 1", 1),
        ("DELETE FROM audit_log WHERE id = 2", 3),
        ("DELETE FROM audit_log WHERE id = 1", 2),
    ],
)
def test_what_was_changed_or_lost_is_found(empty: Database, change: str, first: int) -> None:
    _filled(empty)
    empty.write(lambda tx: tx.run(Statement(sa.text(change))))
    assert empty.read(audit.broken) == first

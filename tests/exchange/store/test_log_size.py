"""SQLite's log neither grows without bound nor holds writers up."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
import sqlalchemy as sa

from walras.exchange.service import events
from walras.exchange.store import database
from walras.exchange.store.database import SQLite
from walras.exchange.store.migrate import migrate
from walras.exchange.store.statements import Statement, Transaction

COUNT = Statement(sa.text("SELECT count(*) FROM event"))


def test_a_long_reader_delays_no_writer_and_the_log_shrinks_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "_WAL_BYTES", 200_000)
    monkeypatch.setattr(database, "_WAL_PAUSE", 0.05)
    path = tmp_path / "x.db"
    migrate(f"sqlite:///{path}")
    store = SQLite(path)

    def tell(tx: Transaction) -> None:
        for _ in range(20):
            events.tell(tx, 1.0, "kind", "x" * 2000, tenant=None)

    try:
        with store.reading() as tx:
            before = tx.value(COUNT)
            slowest = 0.0
            for _ in range(20):
                began = time.monotonic()
                store.write(tell)
                slowest = max(slowest, time.monotonic() - began)
            assert tx.value(COUNT) == before  # one view, whatever is written meanwhile
            assert store.wal_bytes() > 200_000
        assert slowest < 2.0  # not the ten seconds for which a lock is waited
        end = time.monotonic() + 10.0
        while store.wal_bytes() > 200_000 and time.monotonic() < end:
            store.write(tell)
            time.sleep(0.02)
        assert store.wal_bytes() <= 200_000
        assert store.stats()["wal_bytes"] <= 200_000
    finally:
        store.close()

"""Histories are read from both databases and never changed."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from tests.exchange.history.recorded import POLICY, record

from walras.errors import DataError
from walras.exchange.errors import StoreError
from walras.exchange.history import read_history
from walras.exchange.store.migrate import migrate
from walras.policies.placements import decide


def test_rounds_and_outcomes_are_read(url: str) -> None:
    record(url)
    found = read_history(url)
    assert [recorded.seq for recorded in found.rounds] == [1, 2]
    assert [recorded.snapshot.at for recorded in found.rounds] == [10.0, 30.0]
    for recorded in found.rounds:
        assert (recorded.policy, recorded.predictor) == (POLICY, "prior")
        assert decide(recorded.snapshot, None, POLICY, seed=3) == recorded.decision
    ended = sorted(
        (seq, known.outcome, known.ended) for (seq, _, _), known in found.outcomes.items()
    )
    assert ended == [(1, "completed", 20.0), (1, "completed", 25.0), (1, "failed", 25.0)]
    assert found.models == {}


def test_a_file_is_not_changed(tmp_path: Path) -> None:
    path = tmp_path / "exchange.db"
    record(f"sqlite:///{path}")
    before = hashlib.sha256(path.read_bytes()).hexdigest()
    for source in (tmp_path, path, f"sqlite:///{path}"):
        assert len(read_history(source).rounds) == 2
    assert hashlib.sha256(path.read_bytes()).hexdigest() == before


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="holds no exchange"):
        read_history(tmp_path / "none.db")
    assert list(tmp_path.iterdir()) == []  # nothing is created
    with pytest.raises(StoreError, match="'mysql'"):
        read_history("mysql://root@db/exchange")
    (tmp_path / "text.db").write_text("no database at all, and some more words", encoding="utf-8")
    with pytest.raises(StoreError, match="not a database"):
        read_history(tmp_path / "text.db")
    migrate(f"sqlite:///{tmp_path}/empty.db")
    with pytest.raises(DataError, match="holds no round"):
        read_history(tmp_path / "empty.db")

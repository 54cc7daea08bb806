"""Histories are read from both databases and never changed."""

from __future__ import annotations

import hashlib
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

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


_PIECES: dict[str, list[object]] = {
    "snapshot": [b"", b"xx", "text", 5],
    "decision": [b"", b"xx", "text", 5],
    "policy": ["", "{", "null", '{"explore": 9}', '{"setting of later": 1}', 5],
    "seed": ["x"],
}


@pytest.fixture(scope="module")
def intact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("history") / "exchange.db"
    record(f"sqlite:///{path}")
    return path


def _changed(intact: Path, to: Path, *statement: Any) -> Path:
    with closing(sqlite3.connect(intact)) as whole, closing(sqlite3.connect(to)) as copy:
        whole.backup(copy)
        copy.execute(*statement)
        copy.commit()
    return to


@pytest.mark.parametrize("column", _PIECES)
def test_a_damaged_round_is_named(intact: Path, tmp_path: Path, column: str) -> None:
    with closing(sqlite3.connect(intact)) as whole:
        rows = whole.execute(f"SELECT {column} FROM round ORDER BY id").fetchall()
    cut = [rows[0][0][:k] for k in (1, 99)] if isinstance(rows[0][0], bytes) else []
    for k, piece in enumerate([*_PIECES[column], *cut]):
        statement = f"UPDATE round SET {column}=? WHERE id=2"
        path = _changed(intact, tmp_path / f"{k}.db", statement, (piece,))
        with pytest.raises(StoreError, match="round 2 cannot be read: "):
            read_history(path)


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("UPDATE observation SET seconds_measured='x'", "a result of round 1 cannot be read"),
        ("UPDATE observation SET at='x'", "a result of round 1 cannot be read"),
        ("UPDATE round SET decision=snapshot", "round 1 cannot be read: decision: the bytes begin"),
        (
            "UPDATE round SET decision=(SELECT decision FROM round WHERE id=1)",
            "round 2 cannot be read: its decision is of other tasks",
        ),
        ("DROP TABLE observation", "no such table: .*walras db migrate"),
        ("ALTER TABLE round RENAME COLUMN snapshot TO taken", "no such column: .*db migrate"),
    ],
)
def test_other_contents_are_one_error(
    intact: Path, tmp_path: Path, statement: str, words: str
) -> None:
    with pytest.raises(StoreError, match=words):
        read_history(_changed(intact, tmp_path / "changed.db", statement))


@pytest.mark.parametrize("size", [0, 99, 5000, 100_000])
def test_a_file_that_was_cut_is_one_error(intact: Path, tmp_path: Path, size: int) -> None:
    path = tmp_path / "cut.db"
    path.write_bytes(intact.read_bytes()[:size])
    with pytest.raises(StoreError):
        read_history(path)

"""The agent's journal: whole lines come back, a torn one is cut, damage is an error."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from walras.exchange.agent import journal
from walras.exchange.agent.journal import JournalFile
from walras.exchange.errors import StoreError


def records(path: Path) -> list[dict[str, Any]]:
    file = JournalFile(path)
    file.close()
    return file.records


def grant(placement: str, kind: str = "grant") -> dict[str, Any]:
    return {"kind": kind, "placement": placement, "token": 1}


def test_records_come_back_and_a_torn_line_is_cut(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    first = JournalFile(path)
    assert first.records == []
    first.write({"kind": "life", "number": 1})
    first.write(grant("p"))
    first.close()
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"kind": "re')
    again = JournalFile(path)
    assert again.records == [{"kind": "life", "number": 1}, grant("p")]
    again.write(grant("p", "ack"))
    again.close()
    assert path.read_bytes().startswith(whole)
    assert records(path)[-1]["kind"] == "ack"


def test_a_damaged_line_is_one_clear_error(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    path.write_bytes(b"{}\nnothing\n")
    with pytest.raises(StoreError, match=r"is damaged.*move the file away"):
        JournalFile(path)
    with pytest.raises(StoreError, match="cannot be used"):
        JournalFile(tmp_path)  # a folder


def test_a_long_journal_keeps_its_last_life_and_what_is_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "journal"
    first = JournalFile(path)
    for record in (
        {"kind": "life", "number": 1},
        grant("over"),
        grant("over", "result"),
        grant("over", "ack"),
        {"kind": "life", "number": 2},
        grant("open"),
    ):
        first.write(record)
    first.close()
    monkeypatch.setattr(journal, "_KEPT", 3)
    kept = [{"kind": "life", "number": 2}, grant("open")]
    assert records(path) == kept
    assert records(path) == kept  # the file is what was kept


def test_a_journal_stays_short_while_its_agent_lives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "_KEPT", 9)
    path, sizes = tmp_path / "journal", []
    file = JournalFile(path)
    file.write({"kind": "life", "number": 1})
    file.write(grant("open"))
    for number in range(100):
        for kind in ("grant", "result", "ack"):
            file.write(grant(f"p{number}", kind))
            sizes.append(len(path.read_bytes().splitlines()))
    file.close()
    assert max(sizes) <= 10
    assert records(path)[:2] == [{"kind": "life", "number": 1}, grant("open")]


def test_a_long_journal_of_what_is_open_is_not_written_anew_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "_KEPT", 9)
    path, places = tmp_path / "journal", set()
    file = JournalFile(path)
    for number in range(100):
        file.write(grant(f"p{number}"))
        places.add(path.stat().st_ino)
    file.close()
    assert len(places) <= 6
    assert records(path) == [grant(f"p{number}") for number in range(100)]


def test_a_disk_that_is_full_when_it_is_written_anew_is_one_clear_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "_KEPT", 2)
    path = tmp_path / "journal"
    file = JournalFile(path)
    (tmp_path / "journal.new").mkdir()  # it cannot be written
    file.write(grant("a"))
    file.write(grant("a", "ack"))
    with pytest.raises(StoreError, match="cannot be used"):
        file.write(grant("b"))
    file.close()
    monkeypatch.setattr(journal, "_KEPT", 100)
    assert records(path) == [grant("a"), grant("a", "ack"), grant("b")]

"""Tables on the terminal, as JSON or as CSV, from the same rows."""

from __future__ import annotations

import json

import pytest

from walras.cli.common.output import Format, emit, put_wrapped
from walras.reports.tables import Table, show, to_csv

TABLE = Table(("job", "rate", "fair"), [("a, b", 1 / 3, True), ("[c]", float("nan"), None)], "Jobs")


def test_a_name_is_never_cut_and_a_number_never_wrapped(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "54")
    name, number = "a-name-of-thirty-characters-ok", 123456.0
    emit(Table(("n", "v", "words"), [(name, number, "many words that wrap")]))
    shown = capsys.readouterr().out
    assert name in shown
    assert "123456" in shown


def test_marks_of_a_terminal_are_shown_and_do_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    emit(Table(("[bold]a", "b"), [("x\x1b[2J", "[red]y")], "t\x1b[2J [i]"))
    shown = capsys.readouterr().out
    assert "\x1b" not in shown
    for text in ("[bold]a", "[red]y", "x\\x1b[2J", "t\\x1b[2J [i]"):
        assert text in shown


def test_csv_goes_out_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    emit(TABLE, Format.CSV)
    assert capsys.readouterr().out == to_csv(TABLE)


def test_a_sentence_is_wrapped_below_its_bullet(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    put_wrapped("one two three four five six", "- ")
    first, *rest = capsys.readouterr().out.splitlines()
    assert first.startswith("- one")
    assert rest
    assert all(line.startswith("  ") and len(line) <= 20 for line in rest)


def test_json_is_standard_and_keeps_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    emit(TABLE, Format.JSON)
    assert json.loads(capsys.readouterr().out) == [
        {"job": "a, b", "rate": 1 / 3, "fair": True},
        {"job": "[c]", "rate": None, "fair": None},
    ]


def test_csv_quotes_and_leaves_missing_cells_empty() -> None:
    assert to_csv(TABLE) == 'job,rate,fair\n"a, b",0.3333333333333333,True\n[c],nan,\n'


def test_a_table_shows_every_cell_as_it_reads(capsys: pytest.CaptureFixture[str]) -> None:
    emit(TABLE)
    shown = capsys.readouterr().out
    for text in ("Jobs", "a, b", "[c]", "0.333333", "yes", "–"):
        assert text in shown
    assert show(1e-9) == "1e-09"

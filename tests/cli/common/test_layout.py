"""Columns of a table on a terminal: all of them, in lines that fit, without broken words."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from walras.cli.common.layout import Column, blocks
from walras.cli.common.output import emit
from walras.reports.tables import Table

WORD = st.text("abcde漢é-", min_size=1, max_size=14)
CELL = st.lists(WORD, max_size=6).map(" ".join)


@st.composite
def _columns(draw: st.DrawFn) -> list[Column]:
    count, rows = draw(st.integers(1, 12)), draw(st.integers(0, 4))
    cells = st.lists(CELL, min_size=rows, max_size=rows)
    return [Column(draw(CELL), draw(cells), whole=draw(st.booleans())) for _ in range(count)]


@settings(max_examples=150, deadline=None)
@given(_columns(), st.integers(20, 120))
def test_every_column_stands_somewhere_and_every_line_fits(
    columns: list[Column], width: int
) -> None:
    found = blocks(columns, width)
    first = list(found[0])
    assert sorted({k for block in found for k in block}) == list(range(len(columns)))
    others = [k for block in found[1:] for k in block if k not in first]
    assert len(set(others)) == len(others)
    for block in found:
        assert 0 in block
        assert sum(wide + 3 for wide in block.values()) <= width - 1 or set(block.values()) == {1}
        if sum(columns[k].least + 3 for k in block) <= width - 1:
            assert all(columns[k].least <= wide <= columns[k].widest for k, wide in block.items())


def test_rows_that_the_first_column_does_not_tell_apart_keep_two() -> None:
    columns = [
        Column("policy", ["fifo", "las", "fifo"], whole=True),
        Column("trace", ["2 jobs/h", "2 jobs/h", "6 jobs/h"]),
        *(Column(f"measure number {k}", ["12.5 ± 0.1"] * 3) for k in range(8)),
    ]
    found = blocks(columns, 50)
    assert len(found) > 1
    assert all(list(block)[:2] == [0, 1] for block in found)
    assert len(blocks(columns, 500)) == 1


@pytest.mark.parametrize("columns", [20, 50, 80])
def test_what_is_printed_has_every_word_whole(
    columns: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    heads = ("job", "kind", *(f"completion {k}" for k in range(9)))
    rows = [(f"j{j}", "ResNet-18", *(1.25 * 10**k * (j + 1) for k in range(9))) for j in range(3)]
    emit(Table(heads, rows, "fifo"))
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= columns
    words = shown.split()
    for row in rows:
        assert all(f"{cell:.6g}" in words for cell in row[2:] if isinstance(cell, float))
    assert words.count("completion") == 9
    assert words.count("j1") == words.count("job")
    assert words.count("fifo") == 1

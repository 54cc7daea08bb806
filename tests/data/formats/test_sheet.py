"""CSV tables against pandas' reader, and each thing that can be wrong with one."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from walras.data.formats.sheet import ignored, read
from walras.errors import DataError, InputError

TEXT = 'job,size,note\n"a, b",1.5,x\nc,2e3,\n'


def written(folder: Path, text: str | bytes, name: str = "jobs.csv") -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_cells_are_those_that_pandas_reads(tmp_path: Path, mark: str, end: str) -> None:
    path = written(tmp_path, mark + TEXT.replace("\n", end))
    sheet = read(path, "job", ("size",), ("note",))
    wanted = pd.read_csv(path, index_col="job", encoding="utf-8-sig")
    pd.testing.assert_series_equal(sheet.numbers("size"), wanted["size"], check_names=False)
    assert sheet.keys == list(wanted.index)
    assert sheet.columns == ("job", "size", "note")
    assert sheet.has("note")
    assert not sheet.has("weight")


def test_a_cell_names_its_line_also_behind_blank_ones(tmp_path: Path) -> None:
    sheet = read(written(tmp_path, "job,size\n\n\na,-1\n"), "job", ("size",), ())
    with pytest.raises(InputError, match="is -1") as caught:
        sheet.numbers("size")
    assert caught.value.where.endswith("jobs.csv, line 4, column 'size'")


@pytest.mark.parametrize(
    ("text", "positive", "empty", "wanted"),
    [("0", False, None, 0.0), ("", False, 0.0, 0.0), (" 7 ", True, None, 7.0)],
)
def test_numbers_that_are_allowed(
    tmp_path: Path, text: str, positive: bool, empty: float | None, wanted: float
) -> None:
    cell = read(written(tmp_path, f"job,size\na,{text}\n"), "job", ("size",), ()).lines[0]["size"]
    assert cell.number(positive=positive, empty=empty) == wanted


@pytest.mark.parametrize(
    ("text", "what"),
    [("0", "is 0"), ("nan", "is NaN"), ("inf", "is inf"), ("3 kg", "'3 kg' is not"), ("", "empty")],
)
def test_numbers_that_are_refused(tmp_path: Path, text: str, what: str) -> None:
    sheet = read(written(tmp_path, f"job,size\na,{text}\n"), "job", ("size",), ())
    with pytest.raises(InputError, match=what) as caught:
        sheet.numbers("size")
    assert "line 2, column 'size'" in caught.value.where


@pytest.mark.parametrize(
    ("text", "what", "where"),
    [
        ("", "the file is empty", "jobs.csv"),
        ("job,size\n", "no lines below the header", "jobs.csv"),
        ("job;size\na;1\n", "separated by semicolons", "line 1"),
        ("job\tsize\na\t1\n", "separated by tabs", "line 1"),
        ("job,size,size\na,1,2\n", "column 'size' comes twice", "line 1"),
        ("job,size,\na,1,2\n", "a column has no name", "line 1"),
        ("job,weight\na,1\n", "no column 'size'", "line 1"),
        ("size,job\n1,a\n", "the first column is 'size'", "line 1"),
        ("job,size\na,1\nb,1,2\n", "the line has 3 cells", "line 3"),
        ("job,size\na,1\na,2\n", "'a' comes twice", "line 3"),
        ("job,size\n,1\n", "the label is empty", "line 2"),
    ],
)
def test_a_table_that_is_not_as_it_should_be_is_refused(
    tmp_path: Path, text: str, what: str, where: str
) -> None:
    with pytest.raises(InputError, match=what) as caught:
        read(written(tmp_path, text), "job", ("size",), ("weight",))
    assert where in caught.value.where
    assert caught.value.remedy


@pytest.mark.parametrize("data", [None, b"job,size\n\xff,1\n", b'job,size\n"a,1\n'])
def test_a_file_that_cannot_be_read_is_a_data_error(tmp_path: Path, data: bytes | None) -> None:
    path = tmp_path / "absent.csv" if data is None else written(tmp_path, data)
    with pytest.raises(DataError, match="cannot be read"):
        read(path, "job", ("size",), ())


def test_labels_may_repeat_and_columns_may_be_unknown_where_the_caller_says_so(
    tmp_path: Path,
) -> None:
    path = written(tmp_path, "job,size,colour\na,1,red\na,2,blue\n")
    sheet = read(path, "job", ("size",), (), distinct=False)
    assert sheet.keys == ["a", "a"]
    assert sheet.ignored == ("colour",)
    assert ignored(sheet) == "ignored: column 'colour' of jobs.csv; see --help for the columns"
    every = read(path, "job", (), None, distinct=False)
    assert every.ignored == ()
    assert ignored(every) == ""

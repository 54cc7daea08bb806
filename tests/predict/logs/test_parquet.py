"""Parquet files: damaged ones are one error, and cells of any type are read or refused by row."""

from __future__ import annotations

import random
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from walras.errors import DataError, EngineError, WalrasError
from walras.predict import read_log
from walras.predict.logs import parquet
from walras.simulate import load_cluster, load_trace

JOBS = pd.DataFrame(
    {"name": ["a", "b", "c"], "arrival": [0.0, 5.0, 9.0], "seconds": [60.0, 10.0, 30.0]}
)


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Without pyarrow: the test says what pandas reads."""
    monkeypatch.setattr(parquet, "need_pyarrow", lambda: None)
    return monkeypatch


@pytest.mark.parametrize(
    "error",
    [
        TypeError("data type 'Ynt64' not understood"),
        ValueError("several\nlines"),
        KeyError("schema"),
        NotImplementedError("a type"),
        OSError("Couldn't deserialize thrift"),
        MemoryError(),
        UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"),
    ],
    ids=repr,
)
def test_whatever_a_damaged_file_raises_is_one_error(
    tmp_path: Path, bare: pytest.MonkeyPatch, error: Exception
) -> None:
    def damaged(path: Path) -> pd.DataFrame:
        raise error

    bare.setattr(pd, "read_parquet", damaged)
    path = tmp_path / "x.parquet"
    path.write_bytes(b"PAR1")
    for read in (load_trace, read_log, load_cluster):
        with pytest.raises(DataError, match="it is no whole Parquet file: ") as caught:
            read(path)
        assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there_is_said_in_words(
    tmp_path: Path, bare: pytest.MonkeyPatch
) -> None:
    with pytest.raises(DataError, match="No such file or directory"):
        load_trace(tmp_path / "none.parquet")


def test_without_pyarrow_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    for read in (load_trace, read_log):
        with pytest.raises(EngineError, match="pyarrow is not installed"):
            read(tmp_path / "none.parquet")


@pytest.mark.parametrize(
    ("column", "cells", "words"),
    [
        ("seconds", [np.array([1, 2]), np.array([3]), np.array([4])], r"seconds is '\[1, 2\]'"),
        ("seconds", [{"a": 1}] * 3, "seconds is {'a': 1}"),
        ("arrival", [b"soon", b"later", b"\xff"], "arrival is 'soon'"),
        ("name", [b"a", b"\xff", b"a"], "name is 'a', as that of a row before"),
    ],
)
def test_cells_of_other_types_are_refused_by_row(
    tmp_path: Path, bare: pytest.MonkeyPatch, column: str, cells: list[Any], words: str
) -> None:
    bare.setattr(pd, "read_parquet", lambda path: JOBS.assign(**{column: pd.Series(cells)}))
    path = tmp_path / "x.parquet"
    path.write_bytes(b"")
    with pytest.raises(DataError, match=words):
        load_trace(path)


def test_bytes_of_a_file_that_were_changed(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    path = tmp_path / "x.parquet"
    JOBS.to_parquet(path, index=False)
    whole, draws = path.read_bytes(), random.Random(1)
    assert load_trace(path).name == ("a", "b", "c")
    for k in range(40):
        raw = bytearray(whole[: draws.randrange(len(whole))] if k % 4 == 0 else whole)
        for _ in range(4):
            raw[draws.randrange(len(raw))] = draws.randrange(256)
        path.write_bytes(raw)
        with suppress(WalrasError):  # anything else is a fault
            load_trace(path)

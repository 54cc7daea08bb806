"""Logs as CSV tables: columns, features, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import walras as wl

TABLE = "submit,start,end,cluster,outcome,name,slots,layers\n0,1,61,a,completed,x,2,3\n"


def test_further_columns_of_numbers_are_features(tmp_path: Path) -> None:
    path = tmp_path / "jobs.csv"
    path.write_text(TABLE + "2026-03-02T09:00:00Z,1772442001,1772442061,b,failed,x,1,\n")
    log = wl.shadow.read_jobs(path)
    assert log.feature_names == ("layers",)
    assert np.isnan(log.features[1, 0])
    assert log.submit[1] == 1772442000.0


@pytest.mark.parametrize("name", ["submit", "start", "end", "cluster", "outcome"])
def test_a_column_that_is_missing_is_named(name: str, tmp_path: Path) -> None:
    path = tmp_path / "jobs.csv"
    path.write_text(TABLE.replace(name, "other", 1))
    with pytest.raises(wl.DataError, match=f"has no column '{name}'"):
        wl.shadow.read_jobs(path)


@pytest.mark.parametrize("text", ["", TABLE.splitlines()[0], '"'])
def test_an_empty_log_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "jobs.csv"
    path.write_text(text)
    with pytest.raises(wl.DataError, match=r"jobs\.csv"):
        wl.shadow.read_jobs(path)


@pytest.mark.parametrize("name", ["name", "user", "slots", "layers", "submit"])
def test_a_column_that_is_there_twice_is_named(name: str, tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    needed = ["submit", "start", "end", "cluster", "outcome"]
    head = [*needed, name] if name in needed else [*needed, name, name]
    path.write_text(",".join(head) + "\n" + ",".join(["1"] * len(head)) + "\n")
    with pytest.raises(wl.DataError, match=f"more than one column '{name}'"):
        wl.shadow.read_jobs(path, "csv")

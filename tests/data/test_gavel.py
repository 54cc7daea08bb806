"""Throughputs by job type and scale factor."""

from __future__ import annotations

from pathlib import Path

import pytest

from walras import data
from walras.data import gavel
from walras.errors import DataError, InputError


def test_columns_wants_one_scale_factor_a_job() -> None:
    with pytest.raises(InputError, match=r"scale_factors: has shape \(1,\); allowed: \(2,\)"):
        data.load("gavel", synthetic=True).columns(["A3C", "A3C"], [1])


def test_jobs_of_a_kind_share_a_column_and_an_unknown_one_has_none() -> None:
    found = data.load("gavel", synthetic=True)
    first, again = found.columns(["A3C", "A3C"], [1, 1])
    assert first == again
    assert found.throughput[:, first].shape == (len(gavel.CLUSTERS),)
    assert found.columns(["no job"], [1]).tolist() == [-1]


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b'{"k80": 3}'])
def test_a_file_of_something_else_is_one_clear_error(content: bytes, tmp_path: Path) -> None:
    (tmp_path / gavel.FILE).write_bytes(content)
    with pytest.raises(DataError, match="cannot be read as data set 'gavel'"):
        gavel.read(tmp_path)

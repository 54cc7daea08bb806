"""Folders that a run writes to."""

from __future__ import annotations

from pathlib import Path

import pytest

from walras.errors import DataError
from walras.network.drivers.folder import made


def test_a_folder_and_those_above_it_are_made_once_and_again(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    assert made(folder).is_dir()
    assert made(folder) == folder


def test_a_file_in_the_way_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("in the way", encoding="utf-8")
    with pytest.raises(DataError, match=r"a/b: cannot be made: .*name another one"):
        made(tmp_path / "a" / "b")

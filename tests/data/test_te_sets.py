"""Sets for traffic engineering: what is derived from their origin's files, and wrong files."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

from walras.data import te_b4_real, te_paths, te_topologies
from walras.data.formats.pickles import load_plain
from walras.errors import DataError


class Evil:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return (Path, ("/",))


@pytest.mark.parametrize(
    "raw", [b"", b"not a pickle", pickle.dumps(Evil()), pickle.dumps(np.ones(3))[:-9]]
)
def test_a_pickle_runs_nothing(raw: bytes) -> None:
    with pytest.raises(DataError, match="plain data"):
        load_plain(raw, "set")


@pytest.mark.parametrize(
    ("read", "file", "content"),
    [
        (te_topologies.read, "B4.json", b"{"),
        (te_topologies.read, "B4.json", b'{"nodes": [], "edges": 3}'),
        (te_b4_real.read, te_b4_real.FILE, b""),
        (te_b4_real.read, te_b4_real.FILE, b"\x93NUMPY"),
        (te_paths.read, te_paths.FILES[0], b"PK"),
    ],
)
def test_files_that_are_wrong_are_one_clear_error(
    read: object, file: str, content: bytes, tmp_path: Path
) -> None:
    (tmp_path / file).write_bytes(content)
    with pytest.raises(DataError, match="cannot be read as data set") as caught:
        read(tmp_path)  # type: ignore[operator]
    assert file in caught.value.where
    assert "walras data fetch" in caught.value.remedy


def test_offsets_and_entries_are_checked(tmp_path: Path) -> None:
    for file in te_paths.FILES:
        np.savez(tmp_path / file, nodes=np.arange(4), offset=np.array([0, 1, 4]))
    with pytest.raises(DataError, match="do not divide"):
        te_paths.read(tmp_path)
    np.save(tmp_path / te_b4_real.FILE, -np.ones(te_b4_real.SHAPE))
    with pytest.raises(DataError, match="negative"):
        te_b4_real.read(tmp_path)

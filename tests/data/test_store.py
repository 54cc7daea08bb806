"""Files of data sets: where they are looked for, their checksums, arrays of amounts."""

from __future__ import annotations

import gzip
import hashlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from walras.data import store
from walras.data.dataset import DataFile
from walras.data.registry import GAVEL
from walras.data.store import FileState
from walras.errors import DataError

_SUM = hashlib.sha256(b"content").hexdigest()


def test_the_environment_comes_before_the_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WALRAS_DATA", "/here")
    assert store.search_path() == (Path("/here"), store.cache_folder())
    monkeypatch.setenv("WALRAS_DATA", "")
    assert store.search_path() == (store.cache_folder(),)


def test_a_folder_with_every_file_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WALRAS_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    files = tuple(DataFile(name, _SUM, (name,)) for name in ("a", "b"))
    asked = replace(GAVEL, files=files)
    (tmp_path / "gavel").mkdir()
    (tmp_path / "gavel" / "a").touch()
    assert store.locate(asked) is None
    (tmp_path / "gavel" / "b").touch()
    assert store.locate(asked) == tmp_path / "gavel"


def test_a_packed_file_is_known_by_its_content(tmp_path: Path) -> None:
    file = DataFile("x.gz", _SUM, ("x",))
    for level in (1, 9):
        assert store.content_checksum(file, gzip.compress(b"content", level)) == _SUM
    asked = replace(GAVEL, files=(file,))
    path = tmp_path / "x.gz"
    assert store.check(asked, tmp_path) == {"x.gz": FileState.MISSING}
    for content, state in (
        (gzip.compress(b"content"), FileState.OK),
        (gzip.compress(b"other"), FileState.CHANGED),
        (b"content", FileState.UNREADABLE),
        (gzip.compress(b"content")[:-4], FileState.UNREADABLE),
    ):
        path.write_bytes(content)
        assert store.check(asked, tmp_path) == {"x.gz": state}


def test_a_source_is_known_by_sha256_or_as_git_does() -> None:
    assert store.source_checksum(b"content", "0" * 64) == _SUM
    # git hash-object of a file with these bytes
    assert store.source_checksum(b"hello\n", "0" * 40) == "ce013625030ba8dba906f756967f9e9ca394464a"


def test_what_is_damaged_or_unpacks_to_too_much_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.gz"
    path.write_bytes(gzip.compress(b"content"))
    assert store.unpacked(path) == b"content"
    monkeypatch.setattr(store, "MOST_UNPACKED", 3)
    with pytest.raises(ValueError, match="unpacks to more than"):
        store.unpacked(path)


@pytest.mark.parametrize(
    "amounts", [np.ones(2), np.array([1.0, np.nan, 1.0]), np.array([1.0, -1e-9, 1.0])]
)
def test_amounts_are_finite_not_negative_and_of_their_shape(
    amounts: np.ndarray, tmp_path: Path
) -> None:
    path = tmp_path / "x.npy"
    np.save(path, np.array([0, 1, 2]))
    assert store.read_amounts("x", path, (3,)).tolist() == [0.0, 1.0, 2.0]
    np.save(path, amounts)
    with pytest.raises(DataError, match="cannot be read as data set 'x': shape"):
        store.read_amounts("x", path, (3,))
    path.write_bytes(b"\x93NUMPY")
    with pytest.raises(DataError, match="cannot be read as data set 'x'"):
        store.read_amounts("x", path, (3,))

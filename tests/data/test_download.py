"""Downloading, from a mirror on disk: checks, derivation, and every way that it can fail."""

from __future__ import annotations

import gzip
import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from walras import data
from walras.data import gavel_traces
from walras.data.dataset import DataFile, DataSet
from walras.data.download import download
from walras.data.registry import GAVEL
from walras.data.store import check
from walras.errors import DataError, InputError

CONTENT = b'{"k80": {}}'


@pytest.fixture
def mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A mirror with one file at a path of the origin, and an empty cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("WALRAS_DATA", raising=False)
    place = tmp_path / "mirror" / GAVEL.origin.repository / GAVEL.origin.commit
    place.mkdir(parents=True)
    (place / "file.json").write_bytes(CONTENT)
    return tmp_path / "mirror"


def _data_set(**changes: Any) -> DataSet[data.GavelThroughputs]:
    file = DataFile("file.json", hashlib.sha256(CONTENT).hexdigest(), ("file.json",))
    return replace(GAVEL, files=(replace(file, **changes),))


def test_a_file_is_downloaded_checked_and_stored(mirror: Path) -> None:
    seen: list[tuple[str, int, int]] = []
    data_set = _data_set()
    folder = download(data_set, mirror=mirror.as_uri(), progress=lambda *step: seen.append(step))
    assert (folder / "file.json").read_bytes() == CONTENT
    assert [path.name for path in folder.iterdir()] == ["file.json"]
    assert seen == [("file.json", 1, 1)]
    assert set(check(data_set, folder).values()) == {data.FileState.OK}


def test_an_intact_file_is_not_downloaded_again_unless_forced(mirror: Path) -> None:
    data_set = _data_set()
    folder = download(data_set, mirror=mirror.as_uri())
    next(mirror.rglob("file.json")).unlink()
    assert download(data_set, mirror=mirror.as_uri()) == folder
    with pytest.raises(DataError, match="the download failed"):
        download(data_set, mirror=mirror.as_uri(), force=True)


def test_a_changed_file_is_noticed_and_replaced(mirror: Path) -> None:
    data_set = _data_set()
    folder = download(data_set, mirror=mirror.as_uri())
    (folder / "file.json").write_bytes(b"{}")
    assert check(data_set, folder) == {"file.json": data.FileState.CHANGED}
    download(data_set, mirror=mirror.as_uri())
    assert (folder / "file.json").read_bytes() == CONTENT


def test_a_wrong_download_is_refused_and_not_stored(mirror: Path) -> None:
    data_set = _data_set(sha256="0" * 64)
    with pytest.raises(DataError, match="SHA-256"):
        download(data_set, mirror=mirror.as_uri())
    assert not list((mirror.parent / "cache").rglob("file.json"))


def test_sources_are_joined_by_the_derivation(mirror: Path) -> None:
    derived = gzip.compress(CONTENT + CONTENT)
    data_set = _data_set(
        name="twice.gz",
        sha256=hashlib.sha256(CONTENT + CONTENT).hexdigest(),
        sources=("file.json", "file.json"),
        derive=lambda contents: gzip.compress(b"".join(contents), mtime=0),
    )
    folder = download(data_set, mirror=mirror.as_uri())
    assert gzip.decompress((folder / "twice.gz").read_bytes()) == gzip.decompress(derived)


def test_a_cut_file_is_unreadable(mirror: Path) -> None:
    data_set = _data_set(name="cut.gz")
    folder = mirror / "gavel"
    folder.mkdir()
    (folder / "cut.gz").write_bytes(gzip.compress(CONTENT)[:-4])
    assert check(data_set, folder) == {"cut.gz": data.FileState.UNREADABLE}


@pytest.mark.parametrize("address", ["ftp://host", "host", ""])
def test_a_mirror_must_be_an_address(address: str) -> None:
    with pytest.raises(InputError, match=r"mirror.*https://"):
        data.fetch("gavel", mirror=address)


@pytest.mark.usefixtures("mirror")
def test_no_network_is_one_clear_error() -> None:
    with pytest.raises(DataError, match="the download failed") as caught:
        # Port 9 of this host: nothing listens there.
        data.fetch("gavel", mirror="http://127.0.0.1:9")
    assert "simulation_throughputs.json" in caught.value.where
    assert "WALRAS_DATA/gavel" in caught.value.remedy


def test_a_cache_that_cannot_be_written_is_one_clear_error(mirror: Path) -> None:
    (mirror.parent / "cache").write_text("a file where the folder should be")
    with pytest.raises(DataError, match="cannot be stored"):
        download(_data_set(), mirror=mirror.as_uri())


def _trace_files() -> list[bytes]:
    plain = b"LM (batch size 5)\tpython main.py\t--steps\t1\t700\t12.000000\t4\n"
    weighted = b"A3C\tpython main.py\trl\t--max-steps\t0\t88\t2\t1\t-1.000000\t0\n"
    count = len(gavel_traces.TRACES)
    return [plain if name.startswith("msr") else weighted for name in gavel_traces.TRACES][:count]


def test_both_layouts_of_traces_become_one_table(tmp_path: Path) -> None:
    (tmp_path / gavel_traces.FILE).write_bytes(gavel_traces.derive_table(_trace_files()))
    traces = gavel_traces.read(tmp_path)
    assert traces.names == gavel_traces.TRACES
    first, last = traces.jobs.iloc[0], traces.jobs.iloc[-1]
    assert (first["total_steps"], first["arrival_time"], first["scale_factor"]) == (700, 12.0, 4)
    assert traces.jobs["SLO"].isna().sum() == 75
    assert (last["job_type"], last["scale_factor"], last["priority_weight"]) == ("A3C", 2, 1.0)


def test_a_trace_of_another_layout_is_refused() -> None:
    files = _trace_files()
    files[1] += b"LM\ttoo short\n"
    with pytest.raises(DataError, match=r"103959.trace, line 2.*2 tab-separated fields"):
        gavel_traces.derive_table(files)

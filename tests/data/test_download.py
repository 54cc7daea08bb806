"""Downloading, from a mirror on disk: checks, derivation, and every way that it can fail."""

from __future__ import annotations

import errno
import gzip
import hashlib
import os
import pickle
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from walras import data
from walras.data import cluster_reliability
from walras.data.dataset import DataFile, DataSet
from walras.data.download import download, of_paths
from walras.data.registry import GAVEL, REGISTRY
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
    folder = download(
        data_set, mirror=mirror.as_uri(), on_progress=of_paths(lambda *step: seen.append(step))
    )
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


def _blob_id(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def _never(contents: Sequence[bytes]) -> bytes:
    raise AssertionError("opened before it was compared")


@pytest.mark.parametrize("checksum", ["0" * 64, _blob_id(b"another")])
def test_a_source_is_compared_before_it_is_opened(mirror: Path, checksum: str) -> None:
    data_set = _data_set(derive=_never, source_sums=(checksum,))
    with pytest.raises(DataError, match="the downloaded source has the checksum"):
        download(data_set, mirror=mirror.as_uri())


@pytest.mark.parametrize("checksum", [hashlib.sha256(CONTENT).hexdigest(), _blob_id(CONTENT)])
def test_a_source_is_known_by_sha256_or_by_its_id_in_git(mirror: Path, checksum: str) -> None:
    data_set = _data_set(derive=b"".join, source_sums=(checksum,))
    assert (download(data_set, mirror=mirror.as_uri()) / "file.json").read_bytes() == CONTENT


def test_every_source_that_has_a_sum_stands_in_the_registry() -> None:
    for data_set in REGISTRY.values():
        for file in data_set.files:
            assert len(file.source_sums) in (0, len(file.sources)), file.name
    assert REGISTRY["nb201_help"].files[0].source_sums


@pytest.mark.real_data("cluster_reliability")
def test_the_sums_are_those_of_the_sources() -> None:
    (file,) = REGISTRY["cluster_reliability"].files
    folder = data.find("cluster_reliability")
    assert folder is not None
    names = (cluster_reliability.HELIOS, cluster_reliability.ACME)
    for name, checksum in zip(names, file.source_sums, strict=True):
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == checksum


def test_a_crafted_pickle_is_one_error_and_runs_nothing(mirror: Path) -> None:
    """It asks for an array of objects at addresses of its choice; to look at one is a crash."""
    data_set = REGISTRY["te_b4_real"]
    place = mirror / data_set.origin.repository / data_set.origin.commit
    crafted = pickle.dumps(_Crafted())
    for source in data_set.files[0].sources:
        (place / source).parent.mkdir(parents=True, exist_ok=True)
        (place / source).write_bytes(crafted)
    with pytest.raises(DataError, match="plain data"):
        data.fetch("te_b4_real", mirror=mirror.as_uri())
    assert _stored(mirror) == []


class _Crafted:
    def __reduce__(self) -> Any:
        return np.ndarray, ((144,), np.dtype("O"), b"\x41" * 1152)


def _stored(mirror: Path) -> list[Path]:
    """All files and folders in the cache's folder of the set."""
    cache = mirror.parent / "cache" / "walras" / "data"
    return sorted(cache.rglob("*")) if cache.exists() else []


def test_a_derivation_that_fails_is_one_error(mirror: Path) -> None:
    for name, content in (("lb_random", b"randomNums = ["), ("gavel_traces", b"\xff\xfe")):
        data_set = REGISTRY[name]
        place = mirror / data_set.origin.repository / data_set.origin.commit
        for source in data_set.files[0].sources:
            (place / source).parent.mkdir(parents=True, exist_ok=True)
            (place / source).write_bytes(content)
        with pytest.raises(DataError):
            data.fetch(name, mirror=mirror.as_uri())


@pytest.mark.parametrize("content", [CONTENT, gzip.compress(CONTENT)[:-9], b"\x1f\x8b" + b"x" * 50])
def test_what_is_not_packed_as_its_name_says_is_one_error(mirror: Path, content: bytes) -> None:
    next(mirror.rglob("file.json")).write_bytes(content)
    with pytest.raises(DataError, match="not what it should be"):
        download(_data_set(name="file.gz"), mirror=mirror.as_uri())
    assert _stored(mirror) == []


def test_a_file_that_unpacks_to_too_much_is_not_unpacked(
    mirror: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("walras.data.store.MOST_UNPACKED", 2**22)
    bomb = gzip.compress(bytes(2**24))
    next(mirror.rglob("file.json")).write_bytes(bomb)
    data_set = _data_set(name="file.gz")
    tracemalloc.start()
    with pytest.raises(DataError, match="unpacks to more than 4 MiB"):
        download(data_set, mirror=mirror.as_uri())
    folder = mirror / "gavel"
    folder.mkdir()
    (folder / "file.gz").write_bytes(bomb)
    assert check(data_set, folder) == {"file.gz": data.FileState.UNREADABLE}
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**23  # never whole in memory


def test_a_file_that_is_too_large_is_not_read_to_its_end(
    mirror: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_module("walras.data.download"), "MOST_BYTES", 2**20)
    next(mirror.rglob("file.json")).write_bytes(bytes(2**20 + 1))
    with pytest.raises(DataError, match="more than 1 MiB"):
        download(_data_set(), mirror=mirror.as_uri())
    assert _stored(mirror) == []


def test_a_disk_that_fills_up_leaves_nothing_behind(
    mirror: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(DataError, match="cannot be stored"):
        download(_data_set(), mirror=mirror.as_uri())
    assert [path for path in _stored(mirror) if path.is_file()] == []


@contextmanager
def _server(answer: Callable[[BaseHTTPRequestHandler], None]) -> Iterator[str]:
    """An HTTP server of this host that answers every request alike."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            with suppress(OSError):  # who asked is gone
                answer(self)

        def log_message(self, *args: object) -> None:
            """Keep quiet."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def _web_page(to: BaseHTTPRequestHandler) -> None:
    to.send_response(200)
    to.end_headers()
    to.wfile.write(b"\n<!DOCTYPE html><html><body>Please log in</body></html>")


def _cut_short(to: BaseHTTPRequestHandler) -> None:
    to.send_response(200)
    to.send_header("Content-Length", "1000")
    to.end_headers()
    to.wfile.write(CONTENT)


def _drops(to: BaseHTTPRequestHandler) -> None:
    """A byte now and then, for a while."""
    for byte in b"HTTP/1.0 200 OK\r\nX: " + b"x" * 20:
        to.wfile.write(bytes([byte]))
        time.sleep(0.02)


@pytest.mark.usefixtures("mirror")
@pytest.mark.parametrize(
    ("answer", "what"),
    [
        (_web_page, "the answer is a web page"),
        (_cut_short, "the download failed: IncompleteRead"),
        (_drops, "it took longer than 0.2 s"),
    ],
)
def test_answers_that_are_no_file_are_one_clear_error(
    answer: Callable[[BaseHTTPRequestHandler], None], what: str, mirror: Path
) -> None:
    with _server(answer) as address, pytest.raises(DataError, match=what) as caught:
        data.fetch("gavel", mirror=address, time_limit=0.2 if answer is _drops else 30.0)
    assert caught.value.where.startswith(address)
    assert _stored(mirror) == []


@pytest.mark.parametrize("limit", [0.0, -1.0, float("nan"), float("inf")])
def test_a_time_limit_is_seconds(limit: float) -> None:
    with pytest.raises(InputError, match="time_limit"):
        data.fetch("gavel", time_limit=limit)

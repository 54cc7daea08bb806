"""Files are whole or as they were: full disks, missing folders, interrupts, links, devices."""

from __future__ import annotations

import os
import resource
import signal
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from walras import plot
from walras.errors import DataError
from walras.files import check_target, make_folder, read_toml, replacing, write_csv, write_text
from walras.plot import files as figures
from walras.plot.style import blank
from walras.predict.logs.log import write_log

FULL = Path("/dev/full")
ROOM = 64  # bytes that a file may have


@contextmanager
def no_room() -> Iterator[None]:
    """Every file ends after a few bytes, as on a full disk; Python keeps no bytecode meanwhile."""
    kept, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (ROOM, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)
        sys.dont_write_bytecode = kept


TABLE = pd.DataFrame({"task": ["a"] * 40, "seconds": np.arange(40.0)})


def _figure(path: Path) -> None:
    figure, (axes,) = blank()
    axes.plot([0, 1])
    figures.save(figure, path)


def _report(path: Path) -> None:
    plot.write(plot.Report("t", "l", [plot.Section("s", ["words " * 50])]), path)


WRITERS: dict[str, Callable[[Path], None]] = {
    "a.txt": lambda path: write_text(path, "x" * 1000),
    "a.csv": lambda path: write_csv(path, TABLE),
    "log.csv": lambda path: write_log(TABLE, path),
    "log.parquet": lambda path: write_log(TABLE, path),
    "a.png": _figure,
    "a.svg": _figure,
    "a.pdf": _figure,
    "report.html": _report,
}


def _skip_without_parquet(name: str) -> None:
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("there", [False, True])
def test_a_full_disk_leaves_what_was_there(tmp_path: Path, name: str, there: bool) -> None:
    _skip_without_parquet(name)
    if there:
        (tmp_path / name).write_text("old")
    with pytest.raises(DataError, match=r"cannot be written: .*File too large"), no_room():
        WRITERS[name](tmp_path / name)
    assert [file.name for file in tmp_path.iterdir()] == ([name] if there else [])
    if there:
        assert (tmp_path / name).read_text() == "old"


@pytest.mark.parametrize("name", WRITERS)
def test_what_has_room_is_written_and_nothing_else_left(tmp_path: Path, name: str) -> None:
    _skip_without_parquet(name)
    WRITERS[name](tmp_path / name)
    WRITERS[name](tmp_path / name)
    (file,) = tmp_path.iterdir()
    assert file.name == name
    assert file.stat().st_size > ROOM


@pytest.mark.parametrize("suffix", [".txt", ".png", ".csv"])
def test_a_device_without_room_is_one_error(tmp_path: Path, suffix: str) -> None:
    link = tmp_path / f"full{suffix}"
    link.symlink_to(FULL)
    with pytest.raises(DataError, match="No space left on device"):
        WRITERS[f"a{suffix}"](link)
    assert link.is_symlink()
    assert stat.S_ISCHR(FULL.stat().st_mode)


def test_no_folder_is_one_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="No such file or directory"):
        write_text(tmp_path / "none" / "a.txt", "x")
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="Not a directory"):
        write_text(tmp_path / "file" / "a.txt", "x")
    with pytest.raises(DataError, match="Is a directory"):
        write_text(tmp_path, "x")


def test_links_in_a_circle_and_long_names_are_one_error(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.symlink_to(other)
    other.symlink_to(one)
    for place, said in (
        (one, "Too many levels of symbolic links"),
        (one / "a.txt", "Too many levels of symbolic links"),
        (tmp_path / ("n" * 300), "File name too long"),
    ):
        for use in (
            lambda path: write_text(path, "x"),
            lambda path: check_target(path, "save"),
            lambda path: make_folder(path / "folder"),
        ):
            with pytest.raises(DataError, match=said):
                use(place)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["one", "other"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_what_stops_the_writer_leaves_nothing(tmp_path: Path, error: type[BaseException]) -> None:
    def stop() -> None:
        with replacing(tmp_path / "a.txt") as fresh:
            fresh.write_text("half")
            raise error

    with pytest.raises(error):
        stop()
    assert not list(tmp_path.iterdir())


def test_rights_and_links_stay_as_they_were(tmp_path: Path) -> None:
    file, link = tmp_path / "a.txt", tmp_path / "link.txt"
    file.write_text("old")
    file.chmod(0o640)
    link.symlink_to(file)
    write_text(link, "new")
    assert link.is_symlink()
    assert file.read_text() == "new"
    assert file.stat().st_mode & 0o777 == 0o640
    mask = os.umask(0o027)
    write_text(tmp_path / "b.txt", "new")
    os.umask(mask)
    assert (tmp_path / "b.txt").stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize(
    "content", [b"[trace", b"\xff\xfe\x00", b"a = " + 5000 * b"[", b"a = 1\r\nb = \x00"]
)
def test_what_is_no_toml_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "study.toml"
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"study\.toml: cannot be read: .*; remedy: write it"):
        read_toml(path, "write it")
    with pytest.raises(DataError, match="Is a directory"):
        read_toml(tmp_path, "write it")


def test_tables_of_toml_are_read(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_bytes(b'[trace]\r\nrate = 2.0  # per hour\r\nname = "\xc3\xa4"\r\n')
    assert read_toml(path, "") == {"trace": {"rate": 2.0, "name": "ä"}}

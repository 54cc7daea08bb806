"""Download data sets from their origin, check them, derive what is derived."""

from __future__ import annotations

import os
import re
import tempfile
import threading
import time
import urllib.request
import zlib
from collections.abc import Callable
from contextlib import suppress
from http.client import HTTPException, IncompleteRead
from pathlib import Path
from typing import Any
from urllib.parse import quote

from walras import checks
from walras.data.dataset import DataFile, DataSet
from walras.data.store import (
    FileState,
    cache_folder,
    check,
    content_checksum,
    source_checksum,
)
from walras.errors import DataError, InputError, StoppedError
from walras.progress import OnProgress, Progress, tell

ORIGINS = "https://raw.githubusercontent.com"
TIMEOUT_SECONDS = 30.0  # without a byte
TIME_LIMIT = 900.0  # seconds of a whole set
MOST_BYTES = 2**26  # of one source; the largest that is registered has 10 million
_PART = 2**16
_WEB_PAGE = re.compile(rb"<!doctype html|<html", re.IGNORECASE)


def of_paths(on_path: Callable[[str, int, int], object]) -> OnProgress:
    """A hook of a function of (path, done, total), the form of ``progress=`` before 0.2."""

    def hook(step: Progress) -> None:
        on_path(step.note, step.iteration, step.total)

    return hook


def download(
    data_set: DataSet[Any],
    *,
    mirror: str = ORIGINS,
    force: bool = False,
    time_limit: float = TIME_LIMIT,
    on_progress: OnProgress | None = None,
) -> Path:
    """Download a data set into the user's cache.

    Sources whose checksums are known are compared before they are opened, and every file before
    it takes its place, so that a stopped download leaves nothing half done.

    Args:
        data_set: The registry's row.
        mirror: Base address that serves ``<repository>/<commit>/<path>``.
        force: Download again what is there and intact.
        time_limit: Seconds that all downloads of the set may take.
        on_progress: Called after each download with a Progress that counts them; its ``note`` is
            the path of the source.

    Returns:
        The folder that now holds the set.

    Raises:
        InputError: The mirror's address has no scheme that can be read, or the time is none.
        DataError: The network or the disk failed, a download is too long or too large, or a file
            is not the one registered.
        StoppedError: ``on_progress`` returned True before the end.
    """
    if not mirror.startswith(("https://", "http://", "file://")):
        raise InputError(
            f"'{mirror}' is not an address",
            where="mirror",
            allowed="https://..., http://... or file://...",
            remedy=f"leave it out to use {ORIGINS}",
        )
    remedy = f"leave it out for {TIME_LIMIT:g} s"
    time_limit = checks.number(
        time_limit, "time_limit", above=0.0, below=threading.TIMEOUT_MAX, words=" s", remedy=remedy
    )
    until = time.monotonic() + time_limit
    folder = cache_folder() / data_set.name
    states = check(data_set, folder)
    wanted = [f for f in data_set.files if force or states[f.name] is not FileState.OK]
    total = sum(len(file.sources) for file in wanted)
    done = 0
    for file in wanted:
        contents = []
        origins = file.origins or (data_set.origin,) * len(file.sources)
        for k, (path, origin) in enumerate(zip(file.sources, origins, strict=True)):
            url = f"{mirror.rstrip('/')}/{origin.repository}/{origin.commit}/{quote(path)}"
            content = _get(data_set, url, until, time_limit)
            _check_source(content, file.source_sums[k] if file.source_sums else None, url)
            contents.append(content)
            done += 1
            stopped = tell(on_progress, done, total, note=path)
            if stopped and done < total:
                raise StoppedError(
                    f"was stopped after {done} of {total} files",
                    where=f"the download of '{data_set.name}'",
                    allowed="all files",
                    remedy="fetch it again: sets that are whole are kept",
                )
        _put(data_set, file, contents, folder)
    return folder


def _get(data_set: DataSet[Any], url: str, until: float, time_limit: float) -> bytes:
    """The content at an address.

    A thread of its own reads it: names, handshakes and headers may take for ever, each within the
    time that is allowed without a byte.
    """
    found: list[bytes | OSError | HTTPException | ValueError] = []
    stop = threading.Event()

    def read() -> None:
        try:
            found.append(_read(url, stop))
        except (OSError, HTTPException, ValueError) as error:
            found.append(error)

    thread = threading.Thread(target=read, name="walras-download", daemon=True)
    thread.start()
    try:
        thread.join(max(0.0, until - time.monotonic()))
    finally:
        stop.set()
    late = TimeoutError(f"it took longer than {time_limit:g} s in all")
    content = found[0] if found else late
    if isinstance(content, bytes):
        return content
    reason = getattr(content, "reason", None) or content
    raise DataError(
        f"the download failed: {reason}",
        where=url,
        allowed="a reachable origin, or the files already on disk",
        remedy=(
            "connect to the network, or put the set's files into "
            f"$WALRAS_DATA/{data_set.name}; without them a synthetic stand-in is used"
        ),
    ) from content


def _read(url: str, stop: threading.Event) -> bytes:
    """All bytes at an address, as long as they are wanted and not too many."""
    content = bytearray()
    with urllib.request.urlopen(url, timeout=TIMEOUT_SECONDS) as response:
        stated = response.headers.get("Content-Length", "")
        while not stop.is_set() and (part := response.read(_PART)):
            content += part
            if len(content) > MOST_BYTES:
                raise ValueError(f"it has more than {MOST_BYTES >> 20} MiB")
    if stated.isdecimal() and len(content) < int(stated):
        raise IncompleteRead(bytes(content), int(stated) - len(content))
    return bytes(content)


def _check_source(content: bytes, expected: str | None, url: str) -> None:
    if _WEB_PAGE.search(content[:1024]):
        raise DataError(
            "the answer is a web page, not the file",
            where=url,
            allowed="the file as its origin publishes it",
            remedy="see whether this network asks for a login, or try another mirror",
        )
    found = expected and source_checksum(content, expected)
    if found != expected:
        raise DataError(
            f"the downloaded source has the checksum {found}",
            where=url,
            allowed=expected or "",
            remedy="try again, or another mirror; nothing was stored",
        )


def _put(data_set: DataSet[Any], file: DataFile, contents: list[bytes], folder: Path) -> None:
    content, checksum = _derived(data_set, file, contents)
    if checksum != file.sha256:
        raise DataError(
            f"the downloaded file has SHA-256 {checksum}",
            where=f"{data_set.name}/{file.name}",
            allowed=f"SHA-256 {file.sha256}",
            remedy="try again, or another mirror; nothing was stored",
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _store(content, folder / file.name)
    except OSError as error:
        raise DataError(
            f"the file cannot be stored: {error}",
            where=str(folder / file.name),
            allowed="a cache folder that can be written",
            remedy="free some space or set XDG_CACHE_HOME to another folder",
        ) from error


def _derived(data_set: DataSet[Any], file: DataFile, contents: list[bytes]) -> tuple[bytes, str]:
    """A file made from its sources, and its checksum."""
    try:
        content = contents[0] if file.derive is None else file.derive(contents)
        return content, content_checksum(file, content)
    except (
        OSError,
        EOFError,
        ArithmeticError,
        AttributeError,
        LookupError,
        TypeError,
        ValueError,
        zlib.error,
    ) as error:
        raise DataError(
            f"the downloaded file is not what it should be: {error}",
            where=f"{data_set.name}/{file.name}",
            allowed="the files as their origin publishes them",
            remedy="try again, or another mirror; nothing was stored",
        ) from error


def _store(content: bytes, path: Path) -> None:
    """Write a file whole or not at all."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, path)
    except BaseException:  # an interrupt leaves nothing behind either
        with suppress(OSError):
            os.unlink(temporary)
            path.parent.rmdir()  # unless it holds files
        raise

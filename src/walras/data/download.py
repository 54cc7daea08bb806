"""Download data sets from their origin, check them, derive what is derived."""

from __future__ import annotations

import os
import tempfile
import urllib.error
import urllib.request
from collections.abc import Callable
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.parse import quote

from walras.data.dataset import DataFile, DataSet, Origin
from walras.data.store import FileState, cache_folder, check, content_checksum
from walras.errors import DataError, InputError

ORIGINS = "https://raw.githubusercontent.com"
TIMEOUT_SECONDS = 30.0

Progress = Callable[[str, int, int], None]
"""Called with (source path, number done, number in all) after each download."""


def download(
    data_set: DataSet[Any],
    *,
    mirror: str = ORIGINS,
    force: bool = False,
    progress: Progress | None = None,
) -> Path:
    """Download a data set into the user's cache.

    Every file is checked before it takes its place, so that a stopped download leaves nothing
    half done.

    Args:
        data_set: The registry's row.
        mirror: Base address that serves ``<repository>/<commit>/<path>``.
        force: Download again what is there and intact.
        progress: Told of each finished download.

    Returns:
        The folder that now holds the set.

    Raises:
        InputError: The mirror's address has no scheme that can be read.
        DataError: The network or the disk failed, or a file is not the one registered.
    """
    if not mirror.startswith(("https://", "http://", "file://")):
        raise InputError(
            f"'{mirror}' is not an address",
            where="mirror",
            allowed="https://..., http://... or file://...",
            remedy=f"leave it out to use {ORIGINS}",
        )
    folder = cache_folder() / data_set.name
    states = check(data_set, folder)
    wanted = [f for f in data_set.files if force or states[f.name] is not FileState.OK]
    total = sum(len(file.sources) for file in wanted)
    done = 0
    for file in wanted:
        contents = []
        origins = file.origins or (data_set.origin,) * len(file.sources)
        for path, origin in zip(file.sources, origins, strict=True):
            contents.append(_get(data_set, origin, path, mirror))
            done += 1
            if progress is not None:
                progress(path, done, total)
        _put(data_set, file, contents, folder)
    return folder


def _get(data_set: DataSet[Any], origin: Origin, path: str, mirror: str) -> bytes:
    url = f"{mirror.rstrip('/')}/{origin.repository}/{origin.commit}/{quote(path)}"
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT_SECONDS) as response:
            content: bytes = response.read()
    except (OSError, HTTPException, ValueError) as error:
        reason = getattr(error, "reason", None) or error
        raise DataError(
            f"the download failed: {reason}",
            where=url,
            allowed="a reachable origin, or the files already on disk",
            remedy=(
                "connect to the network, or put the set's files into "
                f"$WALRAS_DATA/{data_set.name}; without them a synthetic stand-in is used"
            ),
        ) from error
    return content


def _put(data_set: DataSet[Any], file: DataFile, contents: list[bytes], folder: Path) -> None:
    content = contents[0] if file.derive is None else file.derive(contents)
    checksum = content_checksum(file, content)
    if checksum != file.sha256:
        raise DataError(
            f"the downloaded file has SHA-256 {checksum}",
            where=f"{data_set.name}/{file.name}",
            allowed=f"SHA-256 {file.sha256}",
            remedy="try again, or another mirror; nothing was stored",
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=folder, prefix=f".{file.name}.")
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        os.replace(temporary, folder / file.name)
    except OSError as error:
        raise DataError(
            f"the file cannot be stored: {error}",
            where=str(folder / file.name),
            allowed="a cache folder that can be written",
            remedy="free some space or set XDG_CACHE_HOME to another folder",
        ) from error

"""Locks between processes: a folder has one starter, a trace one writer."""

from __future__ import annotations

import os
import socket
import sys
import time
from pathlib import Path

from walras.errors import InputError
from walras.network.drivers.folder import cannot_write

if sys.platform != "win32":  # where there are no deployments: they need pipes and signals
    import fcntl

_LOOK = 0.05  # s between attempts


class Lock:
    """A lock that the operating system gives back when its holder ends, however it ends.

    Args:
        path: A file that is made for it, and stays.
        seconds: How long to wait for a holder that is about to end.

    Raises:
        InputError: Another process holds it.
        DataError: The file cannot be made.
    """

    def __init__(self, path: Path, seconds: float = 0.0) -> None:
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise cannot_write(path, error) from error
        until = time.monotonic() + seconds
        while not _taken(self._file):
            if time.monotonic() >= until:
                os.close(self._file)
                raise InputError(
                    "is in use by another process",
                    where=str(path.parent),
                    allowed="one deployment in a folder at a time",
                    remedy="wait until it has ended, or end it; then resume",
                )
            time.sleep(_LOOK)

    def close(self) -> None:
        """Give it back."""
        os.close(self._file)


def claim(deployment: str, folder: Path) -> socket.socket:
    """The right to run a deployment on this host, until the socket is closed.

    It tells a copy of a folder from the folder itself, whose lock it does not share. Where the
    system has no names for it (Linux has), nothing is claimed.

    Args:
        deployment: Its name.
        folder: What errors call it.

    Raises:
        InputError: The deployment runs already.
    """
    claimed = socket.socket(socket.AF_UNIX)
    if sys.platform == "linux":
        try:
            claimed.bind(f"\0walras-deployment-{deployment}")
        except OSError as error:
            claimed.close()
            raise InputError(
                f"holds the deployment {deployment}, which runs in another folder already",
                where=str(folder),
                allowed="one run of a deployment at a time, of a copy too",
                remedy="wait until it has ended; resume the folder that went on last",
            ) from error
    return claimed


def _taken(file: int) -> bool:
    if sys.platform == "win32":
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True

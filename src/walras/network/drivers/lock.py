"""Locks between processes: one starter for each folder, one writer for each trace."""

from __future__ import annotations

import os
import socket
import sys
import time
from pathlib import Path

from walras.errors import InputError
from walras.network.drivers.folder import cannot_write

if sys.platform != "win32":  # deployments do not run there: they need pipes and signals
    import fcntl

_LOOK = 0.05  # seconds between attempts


class Lock:
    """A lock that the operating system releases when its holder ends, for any reason.

    Args:
        path: The lock file, which is created and stays.
        seconds: Seconds to wait for a holder that is about to end.

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
        """Release the lock."""
        os.close(self._file)


def claim(deployment: str, folder: Path) -> socket.socket:
    """Claim the right to run a deployment on this host, until the socket is closed.

    A copied folder has another lock file, but the same name here, so both cannot run at once. On
    systems without such names (Linux has them) nothing is claimed.

    Args:
        deployment: Its name.
        folder: Its folder, for error messages.

    Raises:
        InputError: The deployment is already running.
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

"""Kernels compiled by numba, and kept on disk wherever there is a place for them.

numba looks for one in ``NUMBA_CACHE_DIR``, beside the source and in the user's cache, and refuses
to compile where it finds none: an installation that cannot be written to, and no home. Then a
folder of this user's among the temporary files serves, and without that every process compiles
anew.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numba as nb

TEMPORARY = "walras-kernels-"  # and the user's number: the folder among the temporary files


def compiler(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """A decorator that compiles a function by ``numba.njit`` with options, and keeps the result."""
    cached, anew = nb.njit(cache=True, **options), nb.njit(**options)

    def compiled(function: Callable[..., Any]) -> Any:
        try:
            return _careful(cached(function))
        except RuntimeError:  # numba found no place
            folder = temporary_folder()
        if folder is None:
            return anew(function)
        before, nb.config.CACHE_DIR = nb.config.CACHE_DIR, str(folder)
        try:
            return _careful(cached(function))
        except RuntimeError:  # nor can it write there
            return anew(function)
        finally:
            nb.config.CACHE_DIR = before

    return compiled


def _careful(kernel: Any) -> Any:
    """The kernel, which is used all the same where it cannot be kept: on a full disk."""
    save = kernel._cache.save_overload

    def saved(*compiled: object) -> None:
        with suppress(OSError):
            save(*compiled)

    kernel._cache.save_overload = saved
    return kernel


@cache
def temporary_folder() -> Path | None:
    """The folder for kernels among the temporary files; None where there is none to be trusted.

    What lies there is executed: it must be this user's, and nobody else may write to it.
    """
    owner = os.getuid() if hasattr(os, "getuid") else None
    try:
        folder = Path(tempfile.gettempdir()) / f"{TEMPORARY}{owner or 0}"
        with suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        found = folder.lstat()
    except OSError:
        return None
    own = owner is None or (found.st_uid == owner and not found.st_mode & 0o022)
    return folder if own and stat.S_ISDIR(found.st_mode) else None


def cache_of(kernel: Any) -> Path | None:
    """The folder that a kernel is kept in, if it is kept."""
    path = kernel.stats.cache_path
    return None if path is None else Path(path)

"""Compilation of kernels by numba, with a cache on disk where possible.

numba looks for a cache folder in ``NUMBA_CACHE_DIR``, beside the source and in the user's cache. It
refuses to compile if there is none, as with a read-only installation and no home. Then a private
folder among the temporary files is used; without that every process compiles again.

numba compiles a cached kernel anew when its own file changes, not when that of a function changes
that the kernel takes in. Here it does if any kernel's source changes.
"""

from __future__ import annotations

import gc
import os
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numba as nb

from walras.kernels.linked import KernelCompiler, linked

# plus the user's number: name of the folder among the temporary files
TEMPORARY = "walras-kernels-"
PACKAGE = Path(__file__).parents[1]


def compiler(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """A decorator that compiles a function by ``numba.njit`` with options, and caches it.

    It has an entry from Python, and none from C, which nothing needs. A kernel that calls it takes
    in its intermediate code, as that of :func:`walras.kernels.linked.linked`.
    """
    taken_in = linked(**options)
    options = {"no_cfunc_wrapper": True, "pipeline_class": KernelCompiler, **options}
    cached, uncached = nb.njit(cache=True, **options), nb.njit(**options)

    def compiled(function: Callable[..., Any]) -> Any:
        kernel, inner = with_entry(function), taken_in(function)
        kernel.get_call_template, kernel.get_overload = inner.get_call_template, inner.get_overload
        return kernel

    def with_entry(function: Callable[..., Any]) -> Any:
        try:
            return _careful(cached(function))
        except RuntimeError:  # numba found no folder
            folder = temporary_folder()
        if folder is None:
            return uncached(function)
        before, nb.config.CACHE_DIR = nb.config.CACHE_DIR, str(folder)
        try:
            return _careful(cached(function))
        except RuntimeError:  # numba cannot write there either
            return uncached(function)
        finally:
            nb.config.CACHE_DIR = before

    return compiled


def _careful(kernel: Any) -> Any:
    """The kernel, made to work also where it cannot be cached, as on a full disk, to be compiled
    anew when any kernel's source changes, and to compile without collecting garbage, which would
    find little and take a tenth of the time.
    """
    save, compiles, file = kernel._cache.save_overload, kernel.compile, kernel._cache._cache_file
    file._source_stamp = (file._source_stamp, *_stamps(Path(kernel.py_func.__code__.co_filename)))

    def saved(*compiled: object) -> None:
        with suppress(OSError):
            save(*compiled)

    def compiled(signature: object) -> Any:
        with _no_collections():
            return compiles(signature)

    kernel._cache.save_overload, kernel.compile = saved, compiled
    return kernel


def _stamps(file: Path) -> Iterator[bytes]:
    """Of the kernels, and of the folder of a file that lies elsewhere in the package."""
    kernels = PACKAGE / "kernels"
    yield sources(kernels)
    if file.is_relative_to(PACKAGE) and not file.is_relative_to(kernels):
        yield sources(file.parent)


@cache
def sources(folder: Path) -> bytes:
    """A digest of a folder's sources, or of the version if none can be read, as in an archive.

    The kernels' take two milliseconds, once a process.
    """
    read = []
    for path in sorted(folder.rglob("*.py")):
        with suppress(OSError):
            read.append(path.read_bytes())
    return sha256(b"".join(read) or version("walras").encode()).digest()


@contextmanager
def _no_collections() -> Iterator[None]:
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@cache
def temporary_folder() -> Path | None:
    """The folder for kernels among the temporary files; None if there is none that can be trusted.

    Its files are executed, so it must belong to this user, and nobody else may write to it.
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
    """The folder in which a kernel is cached, or None."""
    path = kernel.stats.cache_path
    return None if path is None else Path(path)

"""``walras doctor``: what is installed, how it runs, and what it finds."""

from __future__ import annotations

import importlib
import os
import pkgutil
import platform
import re
from collections.abc import Iterator, Sequence
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from types import ModuleType
from typing import Any

import typer

from walras import kernels
from walras.cli.common.errors import ExitCode
from walras.cli.common.output import Format, OutputOption, emit
from walras.extras import install_hint
from walras.kernels.compiling import TEMPORARY, cache_of
from walras.reports.tables import Table

Row = tuple[str, str, str, bool]
"""Section, item, what was found, and whether it is as it should be."""

_REMEDY = "set NUMBA_CACHE_DIR to a folder that can be written to"
_FOR_DEVELOPERS = ("docs", "lint", "mutants", "peers", "test")
_IN_TORCH = "gpu"  # modules of kernels that need torch and compile nothing


def doctor(output: OutputOption = Format.TABLE) -> None:
    """Show versions, threads, kernels and data, and a verdict; exit 1 if a needed part is missing.

    Examples:

      walras doctor

      walras doctor -o json
    """
    rows = [*_python(), *_packages(), *_threads(), *_kernels(), *_data()]
    rows.append(_verdict(rows))
    emit(Table(("section", "item", "found", "ok"), rows, "walras doctor"), output)
    if not rows[-1][3]:
        raise typer.Exit(ExitCode.FAILED)


def _verdict(rows: Sequence[Row]) -> Row:
    """Whether Walras can run, and what a user may miss."""
    missing = [(section, item) for section, item, _, ok in rows if not ok]
    needed = [item for section, item in missing if section in ("python", "package")]
    if needed:
        found = f"not ready: {', '.join(needed)} not installed; run pip install . in the checkout"
        return "verdict", "walras", found, False
    words = ["ready"]
    extras = [section.removeprefix("extra ") for section, _ in missing if "extra" in section]
    if extras:
        words.append(f"without {', '.join(dict.fromkeys(extras))} ({install_hint('extra')})")
    if ("kernels", "cache") in missing:
        words.append("kernels are compiled anew in every process")
    if any(section == "data" for section, _ in missing):
        words.append("synthetic sets in place of the data that are not found (walras data fetch)")
    return "verdict", "walras", "; ".join(words), True


def _python() -> Iterator[Row]:
    yield "python", "walras", version("walras"), True
    running = f"{platform.python_implementation()} {platform.python_version()}"
    yield "python", "interpreter", running, True
    yield "python", "platform", platform.platform(), True


def _packages() -> Iterator[Row]:
    """Every requirement of the distribution that a user may miss, by extra."""
    for requirement in requires("walras") or ():
        name = re.match(r"[\w.-]+", requirement)
        extra = re.search(r"extra\s*==\s*['\"](\w+)['\"]", requirement)
        if name is None or (extra and extra[1] in _FOR_DEVELOPERS):
            continue
        try:
            found, here = version(name[0]), True
        except PackageNotFoundError:
            found, here = "not installed", False
        yield f"extra {extra[1]}" if extra else "package", name[0], found, here


def _threads() -> Iterator[Row]:
    import numba
    from threadpoolctl import threadpool_info

    from walras.machine import cores

    yield "threads", "processors", str(cores()), True
    yield "threads", "numba", str(numba.get_num_threads()), True
    importlib.import_module("scipy.linalg")
    for pool in threadpool_info():
        library = f"{pool['internal_api']} ({pool['user_api']})"
        yield "threads", library, str(pool["num_threads"]), True


def _kernels() -> Iterator[Row]:
    """How many compiled kernels have an entry in numba's cache on disk."""
    from numba.core.dispatcher import Dispatcher

    found = [
        kernel
        for module in kernel_modules()
        for kernel in vars(module).values()
        if isinstance(kernel, Dispatcher)
        and kernel.py_func.__module__ == module.__name__
        and not kernel.targetoptions.get("no_cpython_wrapper")  # a part of others
    ]
    cached = [kernel for kernel in found if _is_cached(kernel)]
    missing = len(found) - len(cached)
    state = f"{len(cached)} of {len(found)} compiled and cached"
    yield (
        "kernels",
        "cpu",
        f"{state}; the next solve compiles {missing}" if missing else state,
        True,
    )
    yield "kernels", "cache", *_place(_common_folder([cache_of(kernel) for kernel in found]))


def _common_folder(folders: Sequence[Path | None]) -> Path | None:
    """The folder that holds the caches of all kernels; None where one of them has none."""
    known = [folder for folder in folders if folder is not None]
    return Path(os.path.commonpath(known)) if known and len(known) == len(folders) else None


def _place(folder: Path | None) -> tuple[str, bool]:
    """Where compiled kernels are kept, and whether they are there for the next process, too."""
    if folder is None:
        return f"none: every process compiles anew; {_REMEDY}", False
    if any(part.startswith(TEMPORARY) for part in folder.parts):
        return f"{folder}: temporary, no other place can be written to; {_REMEDY}", True
    return str(folder), os.access(_existing(folder), os.W_OK)


def kernel_modules() -> list[ModuleType]:
    """The modules of :mod:`walras.kernels` that may hold compiled kernels."""
    prefix = f"{kernels.__name__}."
    found = pkgutil.walk_packages(kernels.__path__, prefix)
    names = (module.name for module in found if not module.ispkg)
    return [importlib.import_module(n) for n in names if not n.startswith(prefix + _IN_TORCH)]


def _is_cached(kernel: Any) -> bool:
    function = kernel.py_func
    stem = f"{function.__module__.rpartition('.')[2]}.{function.__qualname__}"
    entries = f"{stem}-{function.__code__.co_firstlineno}.*.nbi"
    folder = cache_of(kernel)
    return folder is not None and any(folder.glob(entries))


def _existing(folder: Path) -> Path:
    return folder if folder.exists() else _existing(folder.parent)


def _data() -> Iterator[Row]:
    from walras import data

    for name in data.REGISTRY:
        folder = data.find(name)
        stand_in = "not found: synthetic stand-in"
        yield "data", name, stand_in if folder is None else str(folder), folder is not None

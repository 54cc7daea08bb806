"""Processes that can be ended at once, also while they start."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import parent_process
from multiprocessing.context import SpawnContext, SpawnProcess
from typing import Any

_JOIN = 1.0  # seconds until a process that was told to end has ended


class _Recording(SpawnContext):
    """A context that lists the processes it makes."""

    def __init__(self) -> None:
        self.made: list[SpawnProcess] = []

    def Process(self, *args: Any, **kwargs: Any) -> SpawnProcess:  # type: ignore[override]
        process = SpawnProcess(*args, **kwargs)
        self.made.append(process)
        return process


@contextmanager
def open_pool(
    workers: int, begin: Callable[..., None], *arguments: Any
) -> Iterator[ProcessPoolExecutor]:
    """Processes for the body, which ends them: what it has not waited for is given up.

    They also end with this process, however it ends.

    Args:
        workers: Their number.
        begin: Called in each process at its begin.
        arguments: Of ``begin``.
    """
    context = _Recording()
    pool = ProcessPoolExecutor(workers, context, _begin, (begin, *arguments))
    try:
        yield pool
    finally:
        for process in context.made:
            process.terminate()
        for process in context.made:
            process.join(_JOIN)
            process.kill()
        pool.shutdown(wait=True, cancel_futures=True)


def _begin(begin: Callable[..., None], *arguments: Any) -> None:
    threading.Thread(target=_end_with_parent, daemon=True).start()
    begin(*arguments)


def _end_with_parent() -> None:
    """End this process with the one that started it: killed, that one tells nobody."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


@contextmanager
def deaf_children() -> Iterator[None]:
    """Let processes that the body starts not hear Ctrl-C; this one hears it when the body ends.

    A terminal sends Ctrl-C to every process. One that still starts would end with a traceback, and
    its pool with it.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)

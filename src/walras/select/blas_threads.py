"""Threads of BLAS beside those of the kernels."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from threadpoolctl import ThreadpoolController

from walras.machine import cores
from walras.select.cost_model import narrow_rows
from walras.separable import Separable

_REAL = "_real_set_num_threads"
_ALONE = 3000  # narrow rows from which BLAS gets threads of its own


@contextmanager
def blas_limited(problem: Separable, engine: str, threads: int | None) -> Iterator[None]:
    """BLAS on one thread where its matrices are small, as those of the first-order engine are.

    The kernels bring their own threads, and a second pool that spins beside them costs more than
    it saves on a Schur complement that one core factors in milliseconds.

    Args:
        problem: What is to be solved.
        engine: By which engine.
        threads: Threads that the caller allows, or None for all cores.
    """
    is_small = engine in ("admm", "prices") or narrow_rows(problem) < _ALONE
    limit = 1 if is_small else threads or cores()
    _limits.enter(limit)
    try:
        yield
    finally:
        _limits.leave(limit)


class _Limits:
    """The limits of all solves under way; the libraries know one number for the whole process.

    The least of them holds. Where the first solve begins, what the libraries had is kept; where the
    last one ends, they get it back.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: list[int] = []
        self._pools: ThreadpoolController | None = None  # looking for them takes milliseconds
        self._before: list[int] = []

    def enter(self, limit: int) -> None:
        """One more solve."""
        with self._lock:
            if self._pools is None:
                self._pools = ThreadpoolController().select(user_api="blas")
            if not self._held:
                self._before = [pool.get_num_threads() for pool in self._pools.lib_controllers]
            self._held.append(limit)
            self._set()

    def leave(self, limit: int) -> None:
        """One solve less."""
        with self._lock:
            self._held.remove(limit)
            self._set()

    def _set(self) -> None:
        if self._pools is None:
            return
        for pool, before in zip(self._pools.lib_controllers, self._before, strict=True):
            wanted = min([before, *self._held])
            if pool.get_num_threads() != wanted:
                # threadpoolctl 3.8 lets one thread alone set OpenBLAS' number, for as long as it
                # lives, and does nothing for others. Whoever ends the last solve must set it.
                getattr(pool, _REAL, pool.set_num_threads)(wanted)

    def restart(self) -> None:
        """In a forked process no solve is under way, and who holds the lock is dead."""
        self._lock = threading.Lock()
        if self._held:
            self._held = []
            self._set()


_limits = _Limits()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_limits.restart)

"""Threads of BLAS beside those of the kernels."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache

from threadpoolctl import ThreadpoolController

from walras.engines.costs import narrow_rows
from walras.separable import Separable

_ALONE = 3000  # narrow rows from which BLAS gets threads of its own


def blas_limited(
    problem: Separable, engine: str, threads: int | None
) -> AbstractContextManager[object]:
    """BLAS on one thread where its matrices are small, as those of the first-order engine are.

    The kernels bring their own threads, and a second pool that spins beside them costs more than
    it saves on a Schur complement that one core factors in milliseconds.

    Args:
        problem: What is to be solved.
        engine: By which engine.
        threads: Threads that the caller allows, or None for all cores.
    """
    limits = 1 if engine == "admm" or narrow_rows(problem) < _ALONE else threads
    limited: AbstractContextManager[object] = _pools().limit(limits=limits, user_api="blas")
    return limited


@cache
def _pools() -> ThreadpoolController:
    """The BLAS libraries of this process; looking for them takes milliseconds."""
    return ThreadpoolController()

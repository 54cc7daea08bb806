"""Compilation of kernels, and their mapping over runs of blocks by one pool of threads."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from walras.kernels.compiling import compiler
from walras.kernels.linked import linked
from walras.types import Ints, Longs

_PASS = 100_000  # columns for each thread below which starting it costs more than it saves
# Sums may be reordered for vector instructions; the order is fixed once compiled.
_OPTIONS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "boundscheck": False,
    "fastmath": {"reassoc", "contract"},
}
jit = compiler(**_OPTIONS)
# For sums of a few terms, which vector instructions would slow down.
jit_in_order = compiler(**{**_OPTIONS, "fastmath": False})
# For functions that only kernels call: they have no entry from Python, and become machine code
# within each kernel alone. A call from Python fails; a test makes sure that there is none.
inner = linked(**_OPTIONS)
# The same for functions of many arrays that take less than a microsecond: a call copies seven words
# an array, which may cost more than the function itself.
inlined = linked(forceinline=True, **_OPTIONS)


@inner
def span(ptr: Longs | Ints, j: int) -> range:
    """Places of run j, unsigned, so that no index counts from the end."""
    return range(np.uint64(ptr[j]), np.uint64(ptr[j + 1]))


@inner
def copy(values: Any, out: Any) -> None:
    """Write (n,) values into the first places of a vector.

    numba's ``out[:] = values`` could also tell which shapes do not fit, which takes it a second and
    a half to compile.
    """
    for k in range(len(values)):
        out[k] = values[k]


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="walras-kernel")


if hasattr(os, "register_at_fork"):
    # Threads do not survive in a forked process, so it makes its own pools when needed.
    os.register_at_fork(after_in_child=_pool.cache_clear)


def map_runs(threads: int, work: Callable[[int, int], None], ptr: Longs | Ints) -> None:
    """Call ``work(first, last)`` on runs of blocks with about equal shares of the work.

    The caller's thread does the last run, since waiting would cost each pass another wake-up of a
    tenth of a millisecond.

    Args:
        threads: Largest number of runs. No run is empty, so ``first`` identifies a run.
        work: Called once for each run.
        ptr: (blocks + 1,) work before each block, such as its first column.
    """
    runs = max(1, min(threads, len(ptr) - 1))
    if runs == 1:
        work(0, len(ptr) - 1)
        return
    share = int(ptr[-1]) / runs
    cut: list[int] = np.searchsorted(ptr, [share * k for k in range(1, runs)]).tolist()
    _map(threads, work, sorted({0, *cut, len(ptr) - 1}))


def map_entries(threads: int, work: Callable[[int, int], None], count: int) -> None:
    """Call ``work(first, last)`` on runs of about equally many entries."""
    runs = few(threads, count)
    _map(threads, work, [count * k // runs for k in range(runs + 1)])


def _map(threads: int, work: Callable[[int, int], None], edges: list[int]) -> None:
    *others, own = pairwise(edges)
    jobs = [_pool(threads - 1).submit(work, a, b) for a, b in others]
    work(*own)
    for job in jobs:
        job.result()


def few(threads: int, columns: int) -> int:
    """Number of threads, at most ``threads``, that pay for one cheap pass over some columns."""
    return max(1, min(threads, columns // _PASS))

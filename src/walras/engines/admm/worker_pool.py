"""Pools of workers, which run the passes over slices of demands and combine the answers.

The method needs only sums over slices, and their size does not depend on the number of demands. So
the slices may live in threads of one process, in other processes, or on other machines.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Protocol, cast, runtime_checkable

import numpy as np

from walras.engines.admm.passes import Answer, Pass, Passes, Reduction, Resume, everywhere
from walras.engines.admm.slices.slice import Slice
from walras.engines.admm.tree_reduction import Tree
from walras.engines.admm.worker import Worker
from walras.types import Floats


class WorkerPool(Protocol):
    """The workers of one solve."""

    @property
    def passes(self) -> Passes:
        """All workers as one: each pass runs in all, and its reduction combines their answers."""
        ...

    @property
    def traffic(self) -> float:
        """Mean number of bytes that cross between processes in one iteration."""
        ...

    @property
    def work(self) -> float:
        """Seconds of computing in all passes of all slices so far; NaN if not known."""
        ...

    @property
    def replaced(self) -> int:
        """Number of slices whose holder was lost and replaced so far."""
        ...

    def begin_iteration(self, resume: Resume) -> None:
        """Begin an iteration.

        Args:
            resume: Gives a slice that is lost before the next iteration its state, from its entries
                known here. The passes since then are repeated.
        """
        ...

    def close(self) -> None:
        """Close the pool."""
        ...


@runtime_checkable
class Executor(Protocol):
    """Makes the pool of workers of a solve."""

    def slices(self, workers: int) -> int:
        """Number of slices to cut, given the workers that the caller allows."""
        ...

    def open(self, slices: Sequence[Slice]) -> WorkerPool:
        """Make a pool of workers that hold these slices."""
        ...

    def persistent(self) -> AbstractContextManager[Executor]:
        """An executor for several solves in a row, which may keep its workers."""
        ...


def combined(one: Pass, tree: Tree, answers: Sequence[Answer]) -> Answer:
    """The answer for all demands, from the slices' answers in order.

    Args:
        one: The answered pass.
        tree: Adds up sums over subtrees of leaves.
        answers: The answer of each slice.
    """
    if one.reduction is Reduction.NONE:
        return None
    known = cast(Sequence[Floats], answers)
    if one.reduction is Reduction.SUM:
        return tree.total(known)
    if one.reduction is Reduction.MAX:
        return np.asarray(np.max(known, axis=0))
    if one.reduction is Reduction.RANGE:
        high, low = np.swapaxes(known, 0, 1)
        return np.array([np.max(high, axis=0), np.min(low, axis=0)])
    return np.concatenate(known)


@dataclass(frozen=True)
class Threads:
    """An executor with slices in threads of this process; the compiled passes release the lock."""

    def slices(self, workers: int) -> int:
        """One slice a thread."""
        return workers

    def open(self, slices: Sequence[Slice]) -> WorkerPool:
        """Make a pool of threads."""
        return LocalPool(slices, [Worker(one) for one in slices])

    def persistent(self) -> AbstractContextManager[Executor]:
        """This executor itself, since threads start at once."""
        return nullcontext(self)


class LocalPool:
    """:class:`WorkerPool` in threads of this process.

    Args:
        slices: The slices.
        workers: Their workers.
        timed: Whether a worker computes in the thread that calls it.
    """

    def __init__(
        self, slices: Sequence[Slice], workers: Sequence[Passes], *, timed: bool = True
    ) -> None:
        self.passes = everywhere(self._run)
        self._workers = list(workers)
        self._tree = Tree([one.run for one in slices])
        self._work = [0.0 if timed else float("nan")] * len(slices)
        self._pool = ThreadPoolExecutor(len(slices), thread_name_prefix="walras-admm")

    @property
    def traffic(self) -> float:
        """Zero, since nothing crosses."""
        return 0.0

    @property
    def replaced(self) -> int:
        """Zero, since threads are never lost."""
        return 0

    @property
    def work(self) -> float:
        """See :class:`WorkerPool`."""
        return sum(self._work)

    def begin_iteration(self, resume: Resume) -> None:
        """Do nothing, since threads are never lost."""

    def _run(self, one: Pass, *args: object) -> Answer:
        return combined(one, self._tree, self._answers(one, *args))

    def _answers(self, one: Pass, *args: object) -> list[Answer]:
        others = range(1, len(self._workers))
        jobs = [self._pool.submit(self._timed, k, one, *args) for k in others]
        try:
            return [self._timed(0, one, *args), *(job.result() for job in jobs)]
        except KeyboardInterrupt:
            wait(jobs)  # a proof of the present state comes next
            raise

    def _timed(self, k: int, one: Pass, *args: object) -> Answer:
        began = time.thread_time()  # a thread that waits for its core does not compute
        found = one.run(self._workers[k], *args)
        self._work[k] += time.thread_time() - began
        return found

    def close(self) -> None:
        """Close the pool."""
        self._pool.shutdown()
        self._workers.clear()

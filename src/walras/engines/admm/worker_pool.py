"""Who runs the passes over slices of demands, and adds up what they answer.

The method asks only for sums over slices whose size does not depend on the number of demands; so
the slices may live in threads of one process, in other processes, or on other machines.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from operator import attrgetter
from typing import Protocol, runtime_checkable

import numpy as np

from walras.engines.admm.slices import Slice
from walras.engines.admm.tree_reduction import Tree
from walras.engines.admm.worker import Worker
from walras.types import Floats


class WorkerPool(Protocol):
    """The holders of the slices of one solve."""

    @property
    def traffic(self) -> float:
        """Bytes that cross between processes an iteration, on average."""
        ...

    @property
    def work(self) -> float:
        """Seconds of computing in all passes so far, of all slices together; NaN if not known."""
        ...

    @property
    def replaced(self) -> int:
        """Slices whose holder was lost and replaced so far."""
        ...

    def mark(self, task: str, *args: object) -> None:
        """An iteration begins.

        A slice that is lost before the next one gets its state by this task, from the entries that
        are known of it here, and repeats the tasks since.
        """
        ...

    def total(self, task: str, *args: object) -> Floats:
        """The sum over all demands of what ``Part.<task>(*args)`` returns, in a fixed order."""
        ...

    def collect(self, task: str, *args: object) -> list[Floats]:
        """What ``Part.<task>(*args)`` returns for each slice, in order."""
        ...

    def close(self) -> None:
        """Let the slices go."""
        ...


@runtime_checkable
class Executor(Protocol):
    """Makes the crew of a solve."""

    def slices(self, workers: int) -> int:
        """Number of slices to cut, given the workers that the caller allows."""
        ...

    def open(self, slices: Sequence[Slice]) -> WorkerPool:
        """A crew that holds these slices."""
        ...

    def kept(self) -> AbstractContextManager[Executor]:
        """An executor of several solves in a row, for which those who do the work may stay."""
        ...


def summed(parts: Sequence[Floats]) -> Floats:
    """The sum of what slices answer, in their order, whoever holds them."""
    out = np.array(parts[0])
    for part in parts[1:]:
        out += part
    return out


@dataclass(frozen=True)
class Threads:
    """Slices in threads of this process; the compiled passes release the interpreter lock."""

    def slices(self, workers: int) -> int:
        """One slice a thread."""
        return workers

    def open(self, slices: Sequence[Slice]) -> WorkerPool:
        """A pool of threads."""
        return _ThreadPool(slices)

    def kept(self) -> AbstractContextManager[Executor]:
        """This: threads start at once."""
        return nullcontext(self)


class _ThreadPool:
    def __init__(self, slices: Sequence[Slice]) -> None:
        self._parts = [Worker(one) for one in slices]
        self._tree = Tree([one.run for one in slices])
        self._work = [0.0] * len(slices)
        self._pool = ThreadPoolExecutor(len(slices), thread_name_prefix="walras-admm")

    @property
    def traffic(self) -> float:
        return 0.0

    @property
    def replaced(self) -> int:
        return 0

    @property
    def work(self) -> float:
        return sum(self._work)

    def mark(self, task: str, *args: object) -> None:
        """Threads lose nothing."""

    def total(self, task: str, *args: object) -> Floats:
        return self._tree.total(task, self.collect(task, *args))

    def collect(self, task: str, *args: object) -> list[Floats]:
        others = range(1, len(self._parts))
        jobs = [self._pool.submit(self._run, k, task, *args) for k in others]
        try:
            return [self._run(0, task, *args), *(job.result() for job in jobs)]
        except KeyboardInterrupt:
            wait(jobs)  # a proof of where things stand comes next
            raise

    def _run(self, k: int, task: str, *args: object) -> Floats:
        began = time.thread_time()  # a thread that waits for its core does not work
        found: Floats = attrgetter(task)(self._parts[k])(*args)
        self._work[k] += time.thread_time() - began
        return found

    def close(self) -> None:
        self._pool.shutdown()
        self._parts.clear()

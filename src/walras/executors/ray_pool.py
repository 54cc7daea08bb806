"""Slices in Ray actors: passes go out, sums come back, lost actors are replaced."""

from __future__ import annotations

import copy
import logging
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import numpy as np
import ray
from ray.exceptions import RayActorError

from walras.engines.admm.passes import (
    PASSES,
    Answer,
    Call,
    Pass,
    Passes,
    Reduction,
    Resume,
    calls_of,
    everywhere,
)
from walras.engines.admm.slices.slice import Slice
from walras.engines.admm.tree_reduction import Tree
from walras.engines.admm.worker import Worker
from walras.engines.admm.worker_pool import combined
from walras.errors import EngineError

# What is known here of a slice that is lost: the last answers to these passes, as its attributes.
_KNOWN = {
    PASSES[Passes.entries]: "x",
    PASSES[Passes.prices]: "price",
    PASSES[Passes.own_prices]: "own_price",
}
_START_SECONDS = 120.0
_LOSSES = 5  # of one slice within one iteration, from which the cluster counts as broken
_log = logging.getLogger("walras")


class _Holder:
    """An actor: one slice and its state."""

    def hold(self, data: Slice) -> None:
        """Take a slice."""
        # Ray's arrays are read-only, for which the compiled passes would be compiled again.
        self._worker, self._work = Worker(copy.deepcopy(data)), 0.0

    def run(self, one: Pass, *args: object) -> Answer:
        """What the slice answers."""
        began = time.thread_time()
        found = one.run(self._worker, *(copy.deepcopy(value) for value in args))
        self._work += time.thread_time() - began
        return found

    def work(self) -> float:
        """Seconds that it computed."""
        return self._work


class Actors:
    """The actors of one solve, or of several in a row.

    Args:
        count: How many.

    Attributes:
        holders: They.

    Raises:
        EngineError: They do not start.
    """

    def __init__(self, count: int) -> None:
        self._actor = ray.remote(num_cpus=1, max_restarts=0, max_task_retries=0)(_Holder)
        self.holders = [self._actor.remote() for _ in range(count)]
        with ExitStack() as unless_all_start:
            unless_all_start.callback(self.end)
            self._await(self.holders)
            unless_all_start.pop_all()

    def _await(self, some: Sequence[Any]) -> None:
        ready = [holder.__ray_ready__.remote() for holder in some]
        missing = len(ray.wait(ready, num_returns=len(ready), timeout=_START_SECONDS)[1])
        if missing:
            raise _not_started(missing, len(self.holders))

    def replace(self, k: int) -> Any:
        """A new actor in the place of one that was lost."""
        self.holders[k] = self._actor.remote()
        self._await(self.holders[k : k + 1])
        return self.holders[k]

    def end(self) -> None:
        """End the actors."""
        for holder in self.holders:
            ray.kill(holder)
        self.holders.clear()


class RayPool:
    """:class:`walras.engines.admm.worker_pool.WorkerPool` in Ray actors.

    An actor that is lost is replaced: its slice starts from the prices known when the iteration
    began, and the entries that it was sent out with or that were last gathered here, and repeats
    the passes since; the solve goes on.

    Args:
        slices: One for each actor.
        actors: The actors.
        ends: Whether they end with the solve.

    Attributes:
        passes: All workers as one.
        replaced: Actors lost and replaced so far.
        gathered: Bytes of allocations and of the demands' prices that have crossed.
        bytes_of: Bytes of arguments and answers that crossed in the last run of each pass.
    """

    def __init__(self, slices: Sequence[Slice], actors: Actors, *, ends: bool = True) -> None:
        self._slices, self._actors, self._ends = slices, actors, ends
        self._tree = Tree([one.run for one in slices])
        self.passes = everywhere(self._run)
        self._since: list[Call] = []
        self._known: dict[Pass, list[Answer]] = {
            one: [getattr(data, name) for data in slices] for one, name in _KNOWN.items()
        }
        self._bytes, self._iterations = 0, 0
        self.gathered = 0
        self.bytes_of: dict[str, int] = {}
        self.replaced = 0
        for holder, data in zip(actors.holders, slices, strict=True):
            holder.hold.remote(data)

    @property
    def traffic(self) -> float:
        """Bytes of arguments and sums that cross between processes an iteration, on average."""
        return self._bytes / max(self._iterations, 1)

    @property
    def work(self) -> float:
        """As a pool of threads says it; not known once an actor was lost."""
        if self.replaced:
            return float("nan")
        try:
            return float(sum(ray.get([holder.work.remote() for holder in self._actors.holders])))
        except RayActorError:
            return float("nan")

    def begin_iteration(self, resume: Resume) -> None:
        """See :class:`walras.engines.admm.worker_pool.WorkerPool`."""
        self._since = calls_of(resume)
        self._iterations += 1

    def _run(self, one: Pass, *args: object) -> Answer:
        """Run a pass in all actors; what they answer together."""
        self._since.append((one, args))
        jobs = [holder.run.remote(one, *args) for holder in self._actors.holders]
        found = [self._answer(k, job) for k, job in enumerate(jobs)]
        if one in self._known:
            self._known[one] = found
        sent = len(found) * sum(_size(value) for value in args)
        self._count(one, sent + sum(part.nbytes for part in found if part is not None))
        return combined(one, self._tree, found)

    def _count(self, one: Pass, crossed: int) -> None:
        if one.reduction is Reduction.GATHER:
            self.gathered += crossed
            return
        self.bytes_of[one.path] = crossed
        if self._iterations:
            self._bytes += crossed

    def close(self) -> None:
        """Let the slices go."""
        _log.info(
            "Ray: %d actors, %d iterations of %.0f bytes; %d bytes of allocations and their prices",
            len(self._slices),
            self._iterations,
            self.traffic,
            self.gathered,
        )
        if self._ends:
            self._actors.end()

    def _answer(self, k: int, job: Any) -> Answer:
        """What the actor of slice k answers, or the one that takes its place."""
        for _ in range(_LOSSES):
            try:
                found: Answer = ray.get(job)
                return found
            except RayActorError:
                _log.info("Ray: the actor of slice %d was lost; another takes its place", k)
            job = self._replace(k)
        raise EngineError(
            f"the actor of slice {k} was lost {_LOSSES} times in one iteration",
            where="walras.Ray",
            allowed="a cluster whose nodes stay",
            remedy="look at the nodes' memory and at Ray's logs; use more actors or fewer demands",
        )

    def _replace(self, k: int) -> Any:
        """A new actor in the state of the lost one, and its answer to the present pass."""
        self.replaced += 1
        known: dict[str, Any] = {name: self._known[one][k] for one, name in _KNOWN.items()}
        data = replace(self._slices[k], **known)
        holder = self._actors.replace(k)
        holder.hold.remote(data)
        return [holder.run.remote(one, *args) for one, args in self._since][-1]


def _size(value: object) -> int:
    """Bytes of an argument: of an array its elements', of a number a double's."""
    return value.nbytes if isinstance(value, np.ndarray) else 8


def _not_started(missing: int, wanted: int) -> EngineError:
    return EngineError(
        f"{missing} of {wanted} actors did not start within {_START_SECONDS:.0f} s",
        where=f"walras.Ray(actors={wanted})",
        allowed="as many actors as the cluster has free cores",
        remedy="see `ray status` for what holds the cores, or ask for fewer actors",
    )

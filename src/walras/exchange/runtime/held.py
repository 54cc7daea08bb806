"""A job that this process holds, and what it does ends with the job or not at all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from walras.exchange.runtime.exchange import Exchange
from walras.exchange.service import jobs
from walras.exchange.service.jobs import Job
from walras.exchange.store.statements import Transaction

T = TypeVar("T")

TIMER = "timer"
"""Subject of a job that time asks for; others were asked for by name."""


class LostError(Exception):
    """Another process has taken the job over; nothing of this one's work was kept."""


@dataclass
class Held:
    """A job, for as long as its handler runs.

    Attributes:
        exchange: Where its work is stored.
        job: The job.
        beaten: When it was last renewed.
        ended: Whether the handler ended it.
    """

    exchange: Exchange
    job: Job
    beaten: float = field(default=0.0)
    ended: bool = False

    def finish(
        self, work: Callable[[Transaction, float], T], *, state: str = "done", result: Any = None
    ) -> T:
        """Store what the job made and end it, in one transaction.

        Args:
            work: Stores it; its value is given back.
            state: ``done`` or ``failed``.
            result: The job's result, or a function of the work's value that gives it.

        Raises:
            LostError: Another process has taken the job over; nothing was stored.
        """
        return self._store(work, result, lambda tx, now, made: jobs.end(tx, self.job, state, made))

    def again(
        self, work: Callable[[Transaction, float], T], after: float, *, result: Any = None
    ) -> T:
        """Store what the job made, and let it run again after some seconds, in one transaction.

        Raises:
            LostError: Another process has taken the job over; nothing was stored.
        """
        return self._store(
            work, result, lambda tx, now, made: jobs.again(tx, self.job, now + after, made)
        )

    def _store(
        self,
        work: Callable[[Transaction, float], T],
        result: Any,
        end: Callable[[Transaction, float, Any], bool],
    ) -> T:
        def both(tx: Transaction, now: float) -> T:
            value = work(tx, now)
            if not end(tx, now, result(value) if callable(result) else result):
                raise LostError(self.job.kind)
            return value

        value = self.exchange.write(both)
        self.ended = True
        return value

    def beat(self) -> bool:
        """Say that it is still worked on; False where it was lost."""
        lease = self.exchange.settings.job_lease
        return self.exchange.write(lambda tx, now: jobs.heartbeat(tx, now, self.job, lease))


class Handler(Protocol):
    """Does the jobs of one kind."""

    alone: bool
    """Whether one job of the kind runs at a time, over all processes."""

    def ensure(self, tx: Transaction, now: float) -> None:
        """See that the jobs that recur are there; called every second."""
        ...

    def wanted(self, tx: Transaction, keys: list[str]) -> str | None:
        """Which of the jobs that are due to take now, or None to leave them."""
        ...

    def handle(self, held: Held) -> None:
        """Do the job and end it; what is raised ends it as failed."""
        ...

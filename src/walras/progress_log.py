"""The iteration log of a solve: keeps its history, and knows when to stop."""

from __future__ import annotations

import logging
import time

from walras.progress import History, Progress
from walras.settings import Settings
from walras.status import Status

_log = logging.getLogger("walras")


class IterationLog:
    """Records every step of a solve and asks the caller whether to go on.

    Args:
        settings: Their ``on_progress``, ``time_limit`` and ``verbose`` count.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._steps: list[Progress] = []
        self._began = time.perf_counter()
        self.outcome: Status | None = None

    @property
    def elapsed(self) -> float:
        """Seconds since the log was opened."""
        return time.perf_counter() - self._began

    @property
    def deadline(self) -> float:
        """``time.perf_counter`` value at which to stop."""
        limit = self._settings.time_limit
        return float("inf") if limit is None else self._began + limit

    @property
    def steps(self) -> int:
        """Steps recorded so far."""
        return len(self._steps)

    @property
    def history(self) -> History:
        """All steps so far."""
        return History(tuple(self._steps))

    def record(self, step: Progress) -> bool:
        """Add a step; True when ``on_progress`` or the time limit says stop."""
        self._steps.append(step)
        if self._settings.verbose:
            _log.info(step.line())
        if asked_to_stop(self._settings, step):
            self.outcome = Status.INTERRUPTED
        elif time.perf_counter() > self.deadline:
            self.outcome = Status.LIMIT
        return self.outcome is not None


def asked_to_stop(settings: Settings, step: Progress) -> bool:
    """Whether ``on_progress`` wants no more; Ctrl-C in it is a wish to stop, too.

    Solvers in other languages call this and would lose the exception.
    """
    try:
        return settings.on_progress is not None and bool(settings.on_progress(step))
    except KeyboardInterrupt:
        return True

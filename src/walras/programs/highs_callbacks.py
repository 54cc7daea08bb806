"""Forwards HiGHS' progress to the callback and stops HiGHS when the callback asks for it."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from types import TracebackType

import highspy
import numpy as np
from highspy.highs import HighsCallbackEvent

from walras.progress import Progress
from walras.progress_log import asked_to_stop
from walras.settings import Settings

_log = logging.getLogger("walras")
_LOG_EVERY = 0.5  # seconds between lines while HiGHS works


class ExceptionTrap:
    """Keeps an exception of the callback until HiGHS has stopped; HiGHS itself would lose it."""

    def __init__(self) -> None:
        self.raised: BaseException | None = None

    def __enter__(self) -> None:
        pass

    def __exit__(
        self,
        kind: type[BaseException] | None,
        raised: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        self.raised = raised
        return True


class CallbackRecorder:
    """Records HiGHS' progress and stops HiGHS when the caller asks for it.

    Args:
        solver: HiGHS with its program.
        settings: Their ``on_progress`` and ``verbose`` are used.
        restate: Turns a step of the program into one of the user's problem.

    Attributes:
        steps: The progress so far.
    """

    def __init__(
        self, solver: highspy.Highs, settings: Settings, restate: Callable[[Progress], Progress]
    ) -> None:
        self.steps: list[Progress] = []
        self._began = self._logged = time.perf_counter()
        self._settings = settings
        self._restate = restate
        self._stop = False
        self._trap = ExceptionTrap()
        if solver.getNumCol() and (settings.on_progress is not None or settings.verbose):
            solver.cbSimplexInterrupt.subscribe(self._interrupt)
            solver.cbIpmInterrupt.subscribe(self._interrupt)
            solver.cbMipInterrupt.subscribe(self._interrupt)
            solver.cbMipImprovingSolution.subscribe(self._improved)

    def _interrupt(self, event: HighsCallbackEvent) -> None:
        """HiGHS calls this many times a second: each step reaches ``on_progress``, few the log."""
        if not self._stop:
            self._ask(float(event.data_out.objective_function_value))
        if self._stop:
            event.interrupt()

    def _ask(self, value: float) -> None:
        with self._trap:
            step = self._step(value, -np.inf)
            if self._settings.verbose and time.perf_counter() - self._logged > _LOG_EVERY:
                self._log(step)
            self._stop = asked_to_stop(self._settings, step)
        self._stop = self._stop or self._trap.raised is not None

    def raise_trapped(self) -> None:
        """Raise the exception of ``on_progress``, if any; Ctrl-C in it only stops the solve."""
        raised = self._trap.raised
        if raised is not None and not isinstance(raised, KeyboardInterrupt):
            raise raised

    def _improved(self, event: HighsCallbackEvent) -> None:
        out = event.data_out
        self._keep(self._step(float(out.mip_primal_bound), float(out.mip_dual_bound)))

    def final(self, value: float, bound: float) -> None:
        """Record where HiGHS ended."""
        self._keep(self._step(value, bound))

    def _keep(self, step: Progress) -> None:
        self.steps.append(step)
        if self._settings.verbose:
            self._log(step)

    def _log(self, step: Progress) -> None:
        self._logged = time.perf_counter()
        _log.info(step.line())

    def _step(self, value: float, bound: float) -> Progress:
        scale = max(abs(value), abs(bound), 1e-12)
        gap = abs(value - bound) / scale if np.isfinite(value) and np.isfinite(bound) else np.inf
        elapsed = time.perf_counter() - self._began
        return self._restate(Progress(len(self.steps), elapsed, value, bound, gap, np.nan, np.nan))

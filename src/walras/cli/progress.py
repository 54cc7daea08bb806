"""Progress with time left, and stopping with the best so far.

On a terminal a bar, else one line of JSON a step; both on standard error.
"""

from __future__ import annotations

import json
import math
import signal
import sys
import time
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any, Self

from walras.history import Progress

_EVERY = 1.0  # seconds between lines when not on a terminal

Callback = Callable[[Progress], bool]


class Interruptible:
    """The first Ctrl-C asks the solve to stop with what it has; the second ends the program."""

    def __init__(self) -> None:
        self.asked = False
        self._previous: Any = None

    def __enter__(self) -> Self:
        self._previous = signal.signal(signal.SIGINT, self._ask)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        signal.signal(signal.SIGINT, self._previous)

    def _ask(self, number: int, frame: FrameType | None) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True
        print("stopping with the best so far; Ctrl-C again to end at once", file=sys.stderr)


class Stages:
    """Progress over stages whose expected seconds are given.

    Args:
        expected: Seconds that each stage may take, by its name; they weigh the bar.
        tolerance: Gap at which a solve ends, to tell how far it is.
        interrupt: Stops the solves when asked.
        shown: Whether to show anything.
    """

    def __init__(
        self,
        expected: dict[str, float],
        tolerance: float,
        interrupt: Interruptible,
        *,
        shown: bool = True,
    ) -> None:
        self._expected = expected
        self._tolerance = tolerance
        self._interrupt = interrupt
        self._bar = _bar() if shown and sys.stderr.isatty() else None
        self._lines = shown and self._bar is None
        self._began = self._told = time.perf_counter()
        self._done = 0.0
        self._name, self._best = "", 0.0

    def __enter__(self) -> Self:
        if self._bar is not None:
            self._bar.start()
            self._task = self._bar.add_task("", total=sum(self._expected.values()))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        if self._bar is not None:
            self._bar.stop()

    def begin(self, name: str) -> Callback:
        """Start a stage; the one before is done. Returns the callback for its solve."""
        self._done += self._expected.get(self._name, 0.0)
        self._name, self._best = name, 0.0
        self._show(0.0, at_once=True)
        return self._step

    def advance(self, done: int, total: int) -> None:
        """Show how far a stage is that counts what it has done.

        Raises:
            KeyboardInterrupt: The user asked to stop; such a stage has no best so far.
        """
        self._show(done / total)
        if self._interrupt.asked:
            raise KeyboardInterrupt

    def _step(self, progress: Progress) -> bool:
        gap = progress.gap if math.isfinite(progress.gap) and progress.gap > 0 else 1.0
        # Gaps fall by factors, with setbacks: the share done is that of their logarithm so far.
        self._best = max(self._best, min(1.0, math.log(gap) / math.log(self._tolerance)))
        self._show(self._best)
        return self._interrupt.asked

    def _show(self, fraction: float, *, at_once: bool = False) -> None:
        done = self._done + fraction * self._expected.get(self._name, 0.0)
        if self._bar is not None:
            self._bar.update(self._task, completed=done, description=self._name)
            return
        now = time.perf_counter()
        if not self._lines or not (at_once or now - self._told > _EVERY):
            return
        self._told = now
        elapsed, total = now - self._began, sum(self._expected.values())
        left = elapsed * (total - done) / done if done > 0 else total
        line = {"stage": self._name, "done": round(done / total, 3),
                "elapsed": round(elapsed, 2), "left": round(left, 2)}  # fmt: skip
        print(json.dumps(line), file=sys.stderr, flush=True)


def _bar() -> Any:
    # Imported here: rich takes a third of the time that walras --help may take.
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

    return Progress(
        SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TextColumn("time left"),
        TimeRemainingColumn(), console=Console(stderr=True), transient=True,
    )  # fmt: skip

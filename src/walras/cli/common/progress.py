"""Progress with time left, and stopping with the best so far.

On a terminal a bar, else one line of JSON a second; both on standard error, and nothing at all for
what ends at once. They are shown from a thread of their own, so that time moves on the screen while
a long step says nothing.
"""

from __future__ import annotations

import json
import math
import signal
import sys
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Any, Self

from walras.cli.common.compiling import CompileWatch
from walras.cli.common.streams import tell
from walras.cli.common.time_left import TimeLeft
from walras.progress import Progress

_AFTER = 1.5  # seconds before anything is shown
_COMPILING = "compiling kernels (once)"
_EVERY = 1.0  # seconds between lines, and between estimates of the time left

Callback = Callable[[Progress], bool]


class Interruptible:
    """The first Ctrl-C asks the solve to stop with what it has; the second ends the program."""

    def __init__(self) -> None:
        self.asked = False
        self._previous: Any = None

    def __enter__(self) -> Self:
        self._previous = signal.signal(signal.SIGINT, self._ask)
        return self

    def __exit__(self, *raised: object) -> None:
        signal.signal(signal.SIGINT, self._previous)

    def _ask(self, number: int, frame: FrameType | None) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True
        tell("stopping with the best so far; Ctrl-C again to end at once")


class Stages:
    """Progress over stages.

    Args:
        expected: The share of each stage in all the work, by its name; it weighs the bar.
        tolerance: Gap at which a solve ends, to tell how far it is.
        interrupt: Stops the solves when asked.
        shown: Whether to show anything.
        timed: Whether ``expected`` are seconds, from which the time left follows at once.
        of_seconds: Whether a stage counts its own expected seconds, not steps of any length.
        limit: Seconds after which the work is stopped, or None.
        clock: Seconds now.
    """

    def __init__(
        self,
        expected: dict[str, float],
        tolerance: float,
        interrupt: Interruptible,
        *,
        shown: bool = True,
        timed: bool = False,
        of_seconds: bool = False,
        limit: float | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._expected = expected
        self._total = sum(expected.values())
        self._tolerance = tolerance
        self._interrupt = interrupt
        self._bar = _bar(self._total) if shown and sys.stderr.isatty() else None
        self._clock, self._began = clock, clock()
        most = math.inf if limit is None else limit
        self._left = TimeLeft(self._total if timed else 0.0, most, of_seconds=of_seconds)
        self._compiling = CompileWatch(clock) if shown else None
        self._before = self._done = 0.0  # expected of the stages before, and with this one
        self._name, self._shown, self._best = "", "", 0.0
        self._ended = threading.Event()
        self._teller = threading.Thread(target=self._tell_on, daemon=True) if shown else None

    def __enter__(self) -> Self:
        if self._compiling is not None:
            self._compiling.__enter__()
        return self

    def __exit__(self, *raised: object) -> None:
        self._ended.set()
        if self._teller is not None and self._teller.is_alive():
            self._teller.join()
        if self._compiling is not None:
            self._compiling.__exit__(*raised)
        if self._bar is not None:
            self._bar.stop()

    @property
    def stopped(self) -> bool:
        """Whether the user asked to stop."""
        return self._interrupt.asked

    def begin(self, name: str) -> Callback:
        """Start a stage; the one before is done. Returns the hook for its solve."""
        self._before += self._expected.get(self._name, 0.0)
        self._name, self._shown, self._best = name, name, 0.0
        self._left.begin()
        self._reached(0.0)
        if self._teller is not None and self._teller.ident is None:
            self._teller.start()  # not before: it names the stage
        return self._step

    def rename(self, name: str) -> None:
        """Name the stage anew for what takes the time now."""
        self._shown = name

    def advance(self, done: int, total: int) -> None:
        """Take down how far a stage is that counts what it has done.

        Raises:
            KeyboardInterrupt: The user asked to stop; such a stage has no best so far.
        """
        self._reached(done / total)
        if self._interrupt.asked:
            raise KeyboardInterrupt

    def count(self, progress: Progress) -> bool:
        """Take down the progress of a stage that counts its steps; True once to be stopped."""
        self._reached(progress.iteration / progress.total)
        return self._interrupt.asked

    def _step(self, progress: Progress) -> bool:
        gap = progress.gap if math.isfinite(progress.gap) and progress.gap > 0 else 1.0
        # Gaps fall by factors, with setbacks: the share done is that of their logarithm so far.
        share = min(1.0, math.log(gap) / math.log(self._tolerance))
        self._best = max(self._best, progress.share if progress.total else share)
        self._reached(self._best)
        return self._interrupt.asked

    def _reached(self, fraction: float) -> None:
        self._done = self._before + fraction * self._expected.get(self._name, 0.0)

    def _tell_on(self) -> None:
        if self._ended.wait(_AFTER):
            return
        if self._bar is not None:
            self._bar.start()
        while True:
            self._tell()
            if self._ended.wait(_EVERY):
                return

    def _tell(self) -> None:
        elapsed, done = self._clock() - self._began, self._done
        watch = self._compiling
        compiling = 0.0 if watch is None else watch.seconds
        name = self._shown
        if watch is not None and watch.now:
            name, left = _COMPILING, None
        else:
            left = self._left.after(elapsed, done / self._total, compiling)
        if self._bar is not None:
            text = "" if left is None else f"time left {left:.0f} s"
            self._bar.update(self._bar.task_ids[0], completed=done, description=name, left=text)
            return
        line = {
            "stage": name,
            "done": round(done / self._total, 3),
            "elapsed": round(elapsed, 1),
            "left": None if left is None else round(left, 1),
        }
        tell(json.dumps(line))


def _bar(total: float) -> Any:
    # Imported here: rich takes a third of the time that walras --help may take.
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

    bar = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[left]}"),
        console=Console(stderr=True),
        transient=True,
    )
    bar.add_task("", total=total, left="")
    return bar

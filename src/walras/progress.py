"""What a solve did, step by step, and how long each stage took."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import pandas as pd

from walras.status import Status


@dataclass(frozen=True)
class Progress:
    """One step of a solve, a training or a run, as ``on_progress`` gets it.

    What only counts its steps gives ``iteration``, ``total`` and ``elapsed``; the rest is NaN.

    Attributes:
        iteration: Number of the step, from 0; of what counts its steps, how many are done.
        elapsed: Seconds since the work began.
        value: The user's objective at the current point (it may not be feasible yet); of the
            first-order engine at the best allocation proved so far, without end before the first.
        bound: The best bound known on that objective.
        gap: Relative gap between the two, by the engine's own account.
        primal_residual: Largest violation of a row, relative to its scale.
        dual_residual: Largest violation of stationarity, relative to its scale.
        step: Length of the step taken, 0..1.
        note: What kind of step, such as ``columns +312``, or ``proof`` where the first-order
            engine repaired and bounded its iterate.
        traffic: Bytes that cross between processes an iteration, on average so far.
        total: Number of steps in all; 0 where it is not known.
    """

    iteration: int
    elapsed: float = math.nan
    value: float = math.nan
    bound: float = math.nan
    gap: float = math.nan
    primal_residual: float = math.nan
    dual_residual: float = math.nan
    step: float = math.nan
    note: str = ""
    traffic: float = 0.0
    total: int = 0

    @property
    def share(self) -> float:
        """Share of the steps that are done, 0 to 1; NaN where their number is not known."""
        return self.iteration / self.total if self.total else math.nan

    def line(self) -> str:
        """The step as one line of text, for ``verbose``."""
        step = "" if math.isnan(self.step) else f"step {self.step:.3f}  "
        traffic = f"{self.traffic:,.0f} bytes an iteration  " if self.traffic else ""
        return (
            f"{self.iteration:5d} {self.elapsed:9.3f}s  value {self.value: .9e}  "
            f"bound {self.bound: .9e}  gap {self.gap:.2e}  primal {self.primal_residual:.1e}  "
            f"dual {self.dual_residual:.1e}  {step}{traffic}{self.note}"
        )


OnProgress = Callable[[Progress], bool | None]  # True stops the work


def counts(on_count: Callable[[int, int], object]) -> OnProgress:
    """Make a hook of a function of (done, total), the form of hooks before 0.2."""

    def hook(step: Progress) -> None:
        on_count(step.iteration, step.total)

    return hook


def tell(on_progress: OnProgress | None, done: int, total: int, **facts: Any) -> bool:
    """Tell a hook how many steps are done; True where it asks to stop.

    Args:
        on_progress: The hook, or None.
        done: Steps done.
        total: Steps in all.
        **facts: Other fields of :class:`Progress`.
    """
    return on_progress is not None and bool(on_progress(Progress(done, total=total, **facts)))


class Stoppable:
    """A hook that remembers that it asked to stop, and asks every later stage to stop as well.

    Args:
        hook: The user's, or None.

    Attributes:
        stopped: Whether the user's hook returned True.
    """

    def __init__(self, hook: OnProgress | None) -> None:
        self._hook, self.stopped = hook, False

    def __call__(self, step: Progress) -> bool:
        """Hand a step to the user's hook; True once it has asked to stop."""
        self.stopped = self.stopped or (self._hook is not None and bool(self._hook(step)))
        return self.stopped

    def part(self, k: int, parts: int) -> OnProgress:
        """The hook of part ``k`` of as many equal parts, whose steps it counts in all of them."""

        def hook(step: Progress) -> bool:
            counted = replace(step, iteration=k * step.total + step.iteration)
            return self(replace(counted, total=parts * step.total))

        return hook

    @property
    def status(self) -> Status:
        """Of work that proves no optimum: ``interrupted`` once stopped, else ``feasible``."""
        return Status.INTERRUPTED if self.stopped else Status.FEASIBLE


@dataclass(frozen=True)
class History:
    """All steps of a solve, in order; behaves as a sequence of :class:`Progress`."""

    steps: tuple[Progress, ...] = ()

    def __len__(self) -> int:
        return len(self.steps)

    def __iter__(self) -> Iterator[Progress]:
        return iter(self.steps)

    def __getitem__(self, index: int) -> Progress:
        return self.steps[index]

    def __add__(self, other: History) -> History:
        return History(self.steps + other.steps)

    def __repr__(self) -> str:
        last = f", gap {self.steps[-1].gap:.1e} after {self.steps[-1].elapsed:.3g} s"
        return f"History({len(self)} steps{last if self.steps else ''})"

    def frame(self) -> pd.DataFrame:
        """One row a step, one column a field of :class:`Progress`."""
        return pd.DataFrame([asdict(step) for step in self.steps])


@dataclass(frozen=True)
class Timings:
    """Seconds spent in each stage of a solve.

    Attributes:
        build: Stating the problem as arrays and preparing the engine.
        iterate: The engine's own iterations.
        repair: Making the allocation exactly feasible and certifying it.
        polish: Turning prices and support into an exact vertex, when asked.
        ideal: What ``iterate`` would take as the method's authors count, else NaN. POP: all parts
            at once, each on a machine of its own. The first-order engine's mode ``paper`` (DeDe*):
            the time spent on subproblems alone, shared evenly among 64 cores.
    """

    build: float = 0.0
    iterate: float = 0.0
    repair: float = 0.0
    polish: float = 0.0
    ideal: float = float("nan")

    def __add__(self, other: Timings) -> Timings:
        """Seconds of two solves, one after the other."""
        return Timings(
            build=self.build + other.build,
            iterate=self.iterate + other.iterate,
            repair=self.repair + other.repair,
            polish=self.polish + other.polish,
            ideal=self.ideal + other.ideal,
        )

    @property
    def total(self) -> float:
        """Wall seconds of all stages."""
        return self.build + self.iterate + self.repair + self.polish


def join(parts: Sequence[History]) -> History:
    """Several histories, one after the other."""
    return History(tuple(step for part in parts for step in part))


def log_to_stderr(*, wanted: bool) -> None:
    """Send what the log of Walras says to standard error, if that is wanted and nobody listens."""
    if not wanted:
        return
    log = logging.getLogger("walras")
    if not log.handlers:
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(message)s"))
        log.addHandler(handler)
    log.setLevel(logging.INFO)

"""What a caller may ask of any engine."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

from walras import checks
from walras.kernels.devices import CPU, check_device
from walras.kernels.schur.sparse import Patterns
from walras.machine import cores
from walras.progress import OnProgress
from walras.types import Floats


@dataclass(frozen=True, eq=False)
class Start:
    """A point to begin from, already matched by name to the problem at hand.

    Attributes:
        x: (entries,) allocation; NaN where nothing is known.
        prices: (rows,) prices; NaN where nothing is known.
        t: (scalars,) shared scalars; None where nothing is known.
    """

    x: Floats
    prices: Floats
    t: Floats | None = None


@dataclass(frozen=True)
class Settings:
    """Limits and wishes of one solve; immutable, checked when built.

    Attributes:
        tolerance: Relative certified gap at which to stop, 1e-12 to 1.
        time_limit: Wall seconds, or None for no limit.
        threads: Worker threads, or None for all cores that this process may use.
        start: Warm start, or None.
        on_progress: Called once a step; stops the solve when it returns True.
        verbose: One line an iteration through the log.
        max_iterations: Steps before the engine gives up.
        device: ``cpu``, or a GPU: ``cuda``, ``cuda:1``, ...
        patterns: Symbolic factors that earlier solves left, and that this one leaves.

    Raises:
        InputError: A setting is outside its range.
        EngineError: There is no such GPU.
    """

    tolerance: float = 1e-6
    time_limit: float | None = None
    threads: int | None = None
    start: Start | None = None
    on_progress: OnProgress | None = field(default=None, compare=False)
    verbose: bool = False
    max_iterations: int = 300
    device: str = CPU
    patterns: Patterns = field(default_factory=Patterns, compare=False, repr=False)

    @property
    def workers(self) -> int:
        """Number of worker threads: ``threads``, or else as many as this process may use."""
        return self.threads or cores()

    def after(self, seconds: float) -> Settings:
        """With what is left of the time limit after some seconds."""
        if self.time_limit is None:
            return self
        return replace(self, time_limit=max(0.0, self.time_limit - seconds))

    def __post_init__(self) -> None:
        checks.setting(self, "tolerance", 1e-12, 1.0)
        checks.setting(self, "time_limit", 0.0, math.inf, optional=True)
        checks.setting(self, "threads", 1, 4096, integer=True, optional=True)
        checks.setting(self, "max_iterations", 1, 10**9, integer=True)
        check_device(self.device)
        verbose: object = self.verbose
        if not isinstance(verbose, int):  # cvxpy's callers also pass 0 and 1
            checks.flag(verbose, "setting verbose")
        checks.function_or_none(
            self.on_progress, "setting on_progress", remedy="pass a function of one Progress"
        )

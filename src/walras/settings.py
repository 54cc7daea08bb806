"""What a caller may ask of any engine."""

from __future__ import annotations

import numbers
from dataclasses import dataclass, field, replace

import numpy as np

from walras.errors import InputError
from walras.kernels.devices import CPU, check_device
from walras.machine import cores
from walras.progress import OnProgress
from walras.types import Floats


@dataclass(frozen=True, eq=False)
class Start:
    """A point to begin from, already matched by name to the problem at hand.

    Attributes:
        x: (entries,) allocation; NaN where nothing is known.
        prices: (rows,) prices; NaN where nothing is known.
    """

    x: Floats
    prices: Floats


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
        check_range("tolerance", self.tolerance, 1e-12, 1.0)
        if self.time_limit is not None:
            check_range("time_limit", self.time_limit, 0.0, np.inf)
        if self.threads is not None:
            check_range("threads", self.threads, 1, 4096, whole=True)
        check_range("max_iterations", self.max_iterations, 1, 10**9, whole=True)
        make_plain(self, "tolerance", "time_limit", "threads", "max_iterations")
        check_device(self.device)
        if not isinstance(self.verbose, bool | int | np.bool_):
            raise InputError(
                f"is {self.verbose!r}",
                where="setting verbose",
                allowed="True or False",
                remedy="pass True for one line an iteration",
            )
        if self.on_progress is not None and not callable(self.on_progress):
            raise InputError(
                f"is a {type(self.on_progress).__name__}",
                where="setting on_progress",
                allowed="a function or None",
                remedy="pass a function of one Progress",
            )


def make_plain(settings: object, *names: str) -> None:
    """Turn checked numbers of a frozen dataclass, NumPy's and the like, into Python's own.

    Solvers in other languages take those alone, and 32-bit ones overflow.
    """
    for name in names:
        value = getattr(settings, name)
        if value is not None:
            plain = int(value) if isinstance(value, numbers.Integral) else float(value)
            object.__setattr__(settings, name, plain)


def check_range(
    name: str, value: object, low: float, high: float, *, whole: bool = False, words: str = ""
) -> None:
    """Refuse a setting that is no number of its kind from ``low`` to ``high``.

    Raises:
        InputError: Names the setting, its value and its range; ``words`` say what the range is.
    """
    kind = numbers.Integral if whole else numbers.Real
    if isinstance(value, bool) or not isinstance(value, kind) or not low <= float(value) <= high:
        raise InputError(
            f"is {value!r}",
            where=f"setting {name}",
            allowed=f"a {'whole ' if whole else ''}number, {low:g} to {high:g}{words}",
            remedy="choose a number in that range",
        )

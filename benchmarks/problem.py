"""What every method under measurement receives and returns; needs nothing but NumPy.

Peers with old dependencies run in environments of their own, so this module must import there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Instance:
    """One scheduling round as plain arrays.

    Attributes:
        throughput: (resources, demands) normalised speed of a job on a type, >= 0.
        size: (demands,) units of a type that a job occupies while it runs.
        capacity: (resources,) units of each type.
        allowed: (resources, demands) False where the job may not run.
        source: Where the numbers come from, in words.
        previous: The round before, where a warm start is measured.
    """

    throughput: Floats
    size: Floats
    capacity: Floats
    allowed: Bools
    source: str = "generated"
    previous: Instance | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """(resources, demands)."""
        return self.throughput.shape[0], self.throughput.shape[1]

    @property
    def usable(self) -> Bools:
        """(resources, demands) True where the job is allowed and makes progress."""
        return self.allowed & (self.throughput > 0)

    @property
    def load(self) -> float:
        """Units asked for by all jobs together over the units there are."""
        return float(self.size.sum() / self.capacity.sum())

    @property
    def entries(self) -> int:
        """Size of X."""
        return self.throughput.size

    def corner(self, resources: int = 6, demands: int = 32) -> Instance:
        """A small instance with the same cluster: compiles kernels and loads libraries."""
        keep = np.flatnonzero(self.allowed[:resources].any(axis=0))[:demands]
        part = np.ix_(np.arange(min(resources, self.shape[0])), keep)
        corner = Instance(
            self.throughput[part],
            self.size[keep],
            self.capacity[:resources],
            self.allowed[part],
            self.source,
        )
        return replace(corner, previous=corner) if self.previous else corner

    def save(self, path: Path) -> None:
        """Write the arrays to an uncompressed ``.npz`` file."""
        np.savez(
            path,
            throughput=self.throughput,
            size=self.size,
            capacity=self.capacity,
            allowed=self.allowed,
            source=np.array(self.source),
        )

    @staticmethod
    def read(path: Path) -> Instance:
        """Read what :meth:`save` wrote."""
        with np.load(path) as arrays:
            return Instance(
                arrays["throughput"],
                arrays["size"],
                arrays["capacity"],
                arrays["allowed"],
                str(arrays["source"]),
            )


@dataclass(frozen=True)
class Budget:
    """What a method may use.

    Attributes:
        threads: Threads (or processes, where a peer has only those).
        time_limit: Seconds of wall time; peers that cannot stop themselves are stopped.
        tolerance: Relative tolerance asked of methods that have no option of their own.
    """

    threads: int = 2
    time_limit: float = 300.0
    tolerance: float = 1e-6


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a method made of an instance.

    Attributes:
        x: (resources, demands) allocation or (paths,) flow as returned, unrepaired; None if there
            is none.
        build: Seconds from arrays to the method's own form.
        solve: Seconds in the method itself.
        iterations: Iterations it reports, or None.
        message: Its own word for how it ended.
        numbers: Anything else worth keeping, such as a certified ``bound``.
        prices: One price a row of the linear program, >= 0 at an upper bound, or None.
        trace: (seconds, value, bound) as the method went along, where it tells.
    """

    x: Floats | None
    build: float
    solve: float
    iterations: int | None = None
    message: str = ""
    numbers: dict[str, float] = field(default_factory=dict)
    prices: Floats | None = None
    trace: Sequence[tuple[float, float, float]] = ()

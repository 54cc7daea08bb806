"""A cell: one method on one instance for one objective, measured once and kept in one file."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.instances import AnySpec

SLOW = 30.0  # seconds; a method that needs more on a cell runs once
LIMIT = 300.0  # seconds; a method that needs more is stopped
THREADS = 2


@dataclass(frozen=True)
class Cell:
    """What is measured, how often, and what it is expected to take.

    Attributes:
        benchmark: Name of the benchmark it belongs to.
        spec: The instance.
        objective: ``max-min``, ``proportional-fairness``, ``alpha-fair-2``, ``total-throughput``,
            ``leximin`` or ``dede-toy``; of flows ``max-total-flow`` or ``min-max-utilisation``.
        method: Key of :data:`benchmarks.peers.METHODS`.
        estimate: Seconds that all runs together are expected to take.
        runs: Runs whose median is reported; one if the first takes over :data:`SLOW`.
        limit: Seconds after which a run is stopped.
        quick: Whether the cell belongs to the quick selection too.
        fresh_kernels: Whether compiled kernels must not come from the cache.
        threads: Threads of the method and its libraries.
    """

    benchmark: str
    spec: AnySpec
    objective: str
    method: str
    estimate: float
    runs: int = 5
    limit: float = LIMIT
    quick: bool = False
    fresh_kernels: bool = False
    threads: int = THREADS

    @property
    def name(self) -> str:
        """File name of the result, without its suffix."""
        return f"{self.benchmark}--{self.spec.name}--{self.objective}--{self.method}"

"""Rounds of matching: their names, arrays, and the independent judgement of an answer.

The rounds are recipe A2's: measured latencies of NAS-Bench-201 networks where the data are there,
else lognormal times with interaction; chances of success fall with the time on a cluster.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks.judge import Verdict

Floats = npt.NDArray[np.float64]

OBJECTIVES = ("match", "relaxed-match")
FAILURES = (0.429, 0.202, 0.129)  # failures a mean job, the quickest cluster's first


@dataclass(frozen=True)
class MatchSpec:
    """Complete name of a batch of rounds.

    Attributes:
        clusters: Clusters.
        tasks: Tasks a round.
        rounds: Rounds of the batch.
        floor: Least mean chance of success over the tasks, as a share of the way from that of the
            quickest placements (0) to the safest ones' (1).
        seed: Of the draw.
        temperature: Of the relaxed matching.
        barrier: Of the relaxed matching.
        shared: Whether clusters have 1 to 5 slots each, free after up to two mean times of a task.
    """

    clusters: int
    tasks: int
    rounds: int = 1
    floor: float = 0.5
    seed: int = 100
    temperature: float = 0.1
    barrier: str = "log"
    churn: float = 0.0
    shared: bool = False

    @property
    def name(self) -> str:
        """Short name for files and tables."""
        parts = [f"rounds{self.rounds}", f"{self.clusters}x{self.tasks}", f"floor{self.floor:g}"]
        if (self.temperature, self.barrier) != (0.1, "log"):
            parts.append(f"{self.barrier}{self.temperature:g}")
        if self.shared:
            parts.append("slots")
        return "-".join([*parts, f"s{self.seed}"])

    @property
    def previous(self) -> MatchSpec:
        """Rounds have no round before them."""
        return self


@dataclass(frozen=True, eq=False)
class MatchInstance:
    """A batch of rounds.

    Attributes:
        times: (rounds, clusters, tasks) > 0.
        success: (rounds, clusters, tasks) 0 to 1.
        floor: (rounds,) least mean chance of success over the tasks.
        temperature: Of the relaxed matching.
        barrier: Of the relaxed matching.
        source: Where the numbers come from, in words.
        previous: None; for the runner.
        slots: (clusters,) slots; empty where a cluster runs one task after the other.
        ready: (clusters,) when they are free; likewise.
    """

    times: Floats
    success: Floats
    floor: Floats
    temperature: float = 0.1
    barrier: str = "log"
    source: str = "generated"
    previous: MatchInstance | None = None
    slots: Floats = field(default_factory=lambda: np.zeros(0))
    ready: Floats = field(default_factory=lambda: np.zeros(0))

    @property
    def shape(self) -> tuple[int, int]:
        """(clusters, tasks)."""
        return self.times.shape[1], self.times.shape[2]

    @property
    def entries(self) -> int:
        """Numbers of times."""
        return self.times.size

    @property
    def load(self) -> float:
        """Tasks a cluster."""
        return self.times.shape[2] / self.times.shape[1]

    def corner(self) -> MatchInstance:
        """Some small rounds: compiles kernels and loads libraries."""
        times, success = self.times[:2, :3, :6], self.success[:2, :3, :6]
        return replace(
            self,
            times=times,
            success=success,
            floor=np.full(len(times), 0.2),
            slots=self.slots[:3],
            ready=self.ready[:3],
        )

    def save(self, path: Path) -> None:
        """Write the arrays to an uncompressed ``.npz`` file."""
        np.savez(
            path,
            times=self.times,
            success=self.success,
            floor=self.floor,
            temperature=self.temperature,
            barrier=np.array(self.barrier),
            source=np.array(self.source),
            slots=self.slots,
            ready=self.ready,
        )

    @staticmethod
    def read(path: Path) -> MatchInstance:
        """Read what :meth:`save` wrote."""
        with np.load(path) as arrays:
            return MatchInstance(
                arrays["times"],
                arrays["success"],
                arrays["floor"],
                float(arrays["temperature"]),
                str(arrays["barrier"]),
                str(arrays["source"]),
                slots=arrays["slots"],
                ready=arrays["ready"],
            )


def build_match(spec: MatchSpec) -> MatchInstance:
    """Draw the rounds of a spec: quick clusters fail most, as in the recipe."""
    rng = np.random.default_rng(spec.seed)
    m, n, rounds = spec.clusters, spec.tasks, spec.rounds
    cluster, task = rng.normal(0, 0.5, (1, m, 1)), rng.normal(0, 0.5, (rounds, 1, n))
    times = np.exp(cluster + task + rng.normal(0, 0.3, (rounds, m, n)))
    rate = np.empty(m)
    rate[np.argsort(cluster.ravel())] = np.interp(
        np.arange(m), np.linspace(0, m - 1, len(FAILURES)), FAILURES
    )
    success = np.exp(-rate[:, None] * times / times.mean(axis=2, keepdims=True))
    quick = np.take_along_axis(success, times.argmin(axis=1)[:, None, :], axis=1)[:, 0].mean(axis=1)
    safe = success.max(axis=1).mean(axis=1)
    floor = quick + spec.floor * (safe - quick)
    made = MatchInstance(times, success, floor, spec.temperature, spec.barrier)
    if not spec.shared:
        return made
    slots, ready = rng.integers(1, 6, m).astype(np.float64), rng.uniform(0.0, 2.0, m)
    return replace(made, slots=slots, ready=ready * times.mean())


def judge_match(instance: MatchInstance, objective: str, x: Floats) -> Verdict:
    """Mean makespan over the rounds; the violation is the largest lack of mean success.

    A relaxed matching is (rounds, clusters, tasks) and is valued by its largest load, an assignment
    is (rounds, tasks).
    """
    m = instance.shape[0]
    if not np.all(np.isfinite(x)):
        return Verdict(float("nan"), float("inf"), ())
    if objective == "match":
        shares = (x[:, None, :] == np.arange(m)[:, None]).astype(np.float64)
    else:
        shares = x
    taken = instance.times * shares
    loads = taken.sum(axis=2)
    if len(instance.slots):  # tasks share a cluster, which ends at 0 without any
        loads = np.maximum(loads / instance.slots, taken.max(axis=2))
        loads = np.where(shares.any(axis=2), loads + instance.ready, 0.0)
    mean = (instance.success * shares).sum(axis=(1, 2)) / instance.shape[1]
    placed = float(np.abs(shares.sum(axis=1) - 1.0).max())
    lacking = float(np.maximum(instance.floor - mean, 0.0).max()) if objective == "match" else 0.0
    spans = loads.max(axis=1)
    return Verdict(float(spans.mean()), max(lacking, placed), tuple(map(float, spans[:10])))

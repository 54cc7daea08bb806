"""The demo's sections, one after the other, and the record of the run."""

from __future__ import annotations

import hashlib
import platform
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import Any, TypeVar

import numpy as np

from walras import checks
from walras.demo import learning, network, placement, scheduling
from walras.demo.learning import LearningSection
from walras.demo.network import NetworkSection
from walras.demo.placement import PlacementSection
from walras.demo.precompile import compiled_beside
from walras.demo.scheduling import Comparison
from walras.demo.stages import Silent, Stages
from walras.domains.cluster_scheduling.rounds import Round, dede_like, gavel
from walras.settings import Settings

# Expected seconds of each policy on the small and the large round, for the time left.
_SMALL = {
    scheduling.MAX_MIN: 1.0,
    scheduling.POP_MAX_MIN: 0.5,
    scheduling.FAIR: 0.5,
    scheduling.POP_FAIR: 0.5,
    scheduling.GREEDY: 0.1,
    scheduling.EQUAL: 0.1,
}
_LARGE = {scheduling.MAX_MIN: 2.0, scheduling.FAIR: 2.0}
_PLACING = {"training predictors": 8.0}
_LEARNING = {"training through the matching": 6.0}
_KERNELS = {"loading kernels": 1.0}
_CENTRES = {f"simulating {network.CENTRES} data centres": 4.0}
Rounds = list[tuple[Round, dict[str, float]]]
"""Scheduling rounds, each with the expected seconds of the policies on it."""

_PACKAGES = ("walras", "numpy", "scipy", "numba", "highspy", "clarabel")


@dataclass(frozen=True)
class DemoSettings:
    """What the demo runs.

    Attributes:
        tasks: Tasks to place by predictions; 0 leaves them out.
        jobs: Jobs of the scheduling round.
        large: Jobs of the large round; 0 leaves it out.
        network: Whether to simulate data centres without a coordinator.
        seed: Draws the tasks, the trace, the large round and the network.
        threads: Threads of each solve; None for all cores.

    Raises:
        InputError: A number is negative.
    """

    tasks: int = 40
    jobs: int = 300
    large: int = 2000
    network: bool = True
    seed: int = 0
    threads: int | None = None

    def __post_init__(self) -> None:
        for name in ("tasks", "seed", "large"):
            checks.setting(self, name, 0, integer=True, where=name)
        Settings(threads=self.threads)  # refused now, not where the first solve comes

    def rounds(self) -> Rounds:
        """The scheduling rounds, with the expected seconds of each policy on them."""
        found = [(gavel(self.jobs, self.seed), _SMALL)]
        return found + ([(dede_like(456, self.large, self.seed), _LARGE)] if self.large else [])


@dataclass(frozen=True, eq=False)
class Demo:
    """What the demo found, as far as it came.

    Attributes:
        placement: Tasks placed by predictions; None when left out.
        rounds: The scheduling round, then the large one.
        network: Data centres without a coordinator; None when left out or stopped.
        settings: What was asked for.
        seconds: Wall time.
    """

    placement: PlacementSection | None
    rounds: tuple[Comparison, ...]
    network: NetworkSection | None
    settings: DemoSettings
    seconds: float

    @property
    def sources(self) -> tuple[str, ...]:
        """Where the numbers of each section with measurements come from."""
        found = [] if self.placement is None else [self.placement.recipe.source]
        return (*found, *(comparison.round.source for comparison in self.rounds))

    def record(self) -> dict[str, Any]:
        """What the run was made of, to repeat it."""
        versions = {"python": platform.python_version()}
        versions |= {name: version(name) for name in _PACKAGES}
        seed = self.settings.seed
        return {
            "command": "demo",
            "seed": seed,
            "versions": versions,
            "machine": f"{platform.system()} {platform.machine()}",
            "placing": None if self.placement is None else placement.record(self.placement),
            "rounds": [_round_record(comparison) for comparison in self.rounds],
            "network": None if self.network is None else network.record(self.network, seed),
            "seconds": round(self.seconds, 2),
        }


def expected(settings: DemoSettings, rounds: Rounds) -> dict[str, float]:
    """Expected seconds of each stage, by its name, in the order of the stages."""
    stages: dict[str, float] = {}
    if settings.tasks:
        stages |= _PLACING | (_LEARNING if placement.with_torch() else {})
    stages |= _KERNELS
    for round_, policies in rounds:
        for policy, seconds in policies.items():
            stages[scheduling.stage(round_, policy)] = seconds
    return stages | (_CENTRES if settings.network else {})


def run(
    settings: DemoSettings | None = None,
    rounds: Rounds | None = None,
    stages: Stages | None = None,
) -> Demo:
    """Run the sections that are asked for, until done or stopped.

    Args:
        settings: What to run.
        rounds: The scheduling rounds, where they have been made already.
        stages: Called at each stage; may ask to stop.
    """
    chosen, shown = settings or DemoSettings(), stages or Silent()
    began = time.perf_counter()
    with compiled_beside():
        placed = _placed(chosen, shown) if chosen.tasks else None
        scheduling.warm_up(chosen.threads, shown.begin(*_KERNELS))
        comparisons = []
        for round_, policies in chosen.rounds() if rounds is None else rounds:
            if not shown.stopped:
                comparisons.append(
                    scheduling.compare(round_, list(policies), chosen.threads, shown)
                )
        centres = None
        if chosen.network and not shown.stopped:
            centres = _unless_stopped(
                _CENTRES, lambda on_count: network.demo_network(on_count, chosen.seed), shown
            )
    return Demo(placed, tuple(comparisons), centres, chosen, time.perf_counter() - began)


def _placed(settings: DemoSettings, stages: Stages) -> PlacementSection:
    stages.begin(*_PLACING)
    placed = placement.place(settings.tasks, settings.seed, stages.advance)
    if not placement.with_torch():
        return placed
    trained = _unless_stopped(
        _LEARNING, lambda on_count: learning.teach(settings.seed, on_count), stages
    )
    return replace(placed, trained=trained)


class _StoppedError(Exception):
    """The user asked to stop in a stage that has no best so far."""


_Found = TypeVar("_Found", LearningSection, NetworkSection)


def _unless_stopped(
    stage: Mapping[str, float],
    work: Callable[[Callable[[int, int], None]], _Found],
    stages: Stages,
) -> _Found | None:
    """What a stage comes to; None when stopped, which must not cost the stages before."""
    stages.begin(*stage)

    def on_count(done: int, total: int) -> None:
        if stages.stopped:
            raise _StoppedError
        stages.advance(done, total)

    try:
        return work(on_count)
    except _StoppedError:
        return None


def _round_record(comparison: Comparison) -> dict[str, Any]:
    round_ = comparison.round
    return {
        "title": round_.title,
        "source": round_.source,
        "origin": round_.origin,
        "sha256": _checksum(round_),
        "policies": scheduling.table(comparison).records(),
        "certificates": scheduling.certificates(comparison),
    }


def _checksum(round_: Round) -> str:
    digest = hashlib.sha256()
    for array in (round_.throughput.to_numpy(), round_.size, round_.capacity):
        digest.update(np.ascontiguousarray(array, dtype="<f8").tobytes())
    return digest.hexdigest()

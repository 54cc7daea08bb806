"""Jobs that change their batch size: how long Shockwave's run, and what its scheduler believes.

In Shockwave's simulator a job of mode ``gns`` or ``accordion`` changes its batch size as its epochs
go by. An epoch is the data set once, so the epochs of a job stay and its steps do not. After each
round in which it ran, a job asks for another size; it gets it after the next round that it runs.
Epochs are rounded up when the size changes. The scheduler knows the speed at the present size, and
counts the steps left as if the size stayed. So what a policy believes differs from what will be:
a job that will speed up looks longer than it is.

The trace has mode and first size; rules and data sets' lengths are facts of the repository of Zheng
et al., NSDI 2023. ``gns`` doubles the size at the epochs of ``DOUBLED``; ``accordion`` takes the
largest size outside of a model's critical epochs.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import ceil
from pathlib import Path

import numpy as np

from walras.data.gavel import read_throughputs
from walras.rounds import JobsSnapshot, Shares
from walras.simulate import Trace
from walras.simulate.time_shared import Policy
from walras.types import Floats

Speeds = Mapping[tuple[str, int, int], float]
"""Model, batch size and workers -> steps a second."""

DATA = {
    "ResNet-18": 50_000,
    "ResNet-50": 100_000,
    "LM": 59_675,
    "Recommendation": 117_907,
}
"""Samples of an epoch."""
LARGEST = {"LM": 80, "ResNet-18": 256, "ResNet-50": 128, "Recommendation": 8192}
"""The largest size of a model that may change it."""
DOUBLED: Mapping[tuple[str, int, int], tuple[int, ...]] = {
    ("ResNet-18", 16, 1): (31, 41, 51, 71),
    ("ResNet-18", 32, 1): (21, 31, 51),
    ("ResNet-18", 64, 1): (11, 31),
    ("ResNet-18", 128, 1): (11,),
    ("ResNet-18", 16, 2): (21, 31, 91, 111),
    ("ResNet-18", 32, 2): (11, 21, 41),
    ("ResNet-18", 64, 2): (21, 41),
    ("ResNet-18", 128, 2): (41,),
    ("ResNet-18", 16, 4): (11, 21, 81, 91),
    ("ResNet-18", 32, 4): (21, 31, 61),
    ("ResNet-18", 64, 4): (11, 61),
    ("ResNet-18", 128, 4): (11,),
    ("ResNet-50", 64, 1): (101,),
    ("ResNet-50", 32, 2): (101, 111),
    ("ResNet-50", 64, 2): (81,),
    ("ResNet-50", 32, 4): (131, 221),
    ("ResNet-50", 64, 4): (191,),
    ("LM", 5, 1): (31, 41, 61, 71),
    ("LM", 10, 1): (11, 21, 41),
    ("LM", 20, 1): (11, 41),
    ("LM", 40, 1): (11,),
    ("LM", 5, 2): (31, 51, 61, 71),
    ("LM", 10, 2): (11, 31, 41),
    ("LM", 20, 2): (31, 41),
    ("LM", 40, 2): (11,),
    ("LM", 5, 4): (11, 31, 71, 91),
    ("LM", 10, 4): (11, 31, 61),
    ("LM", 20, 4): (11, 61),
    ("LM", 40, 4): (61,),
    ("Recommendation", 512, 1): (21, 41, 71, 91),
    ("Recommendation", 1024, 1): (21, 51, 91),
    ("Recommendation", 2048, 1): (21, 41),
    ("Recommendation", 4096, 1): (41,),
}
"""Model, first size and workers -> epochs from which ``gns`` has the size doubled once more."""


@dataclass(frozen=True)
class Adaptation:
    """What becomes of a job that runs on and on, round by round.

    Attributes:
        seconds: How long it runs; a round that it does not end in takes all of its length.
        begin: (K,) seconds of running at which each of its batch sizes begins.
        speed: (K,) steps a second.
        left: (K,) steps that it has left then, by the scheduler's count.
    """

    seconds: float
    begin: Floats
    speed: Floats
    left: Floats

    def believed(self, ran: float) -> tuple[float, float]:
        """Steps a second and steps left after seconds of running, as the scheduler has them."""
        k = int(np.searchsorted(self.begin, ran + 1e-9, side="right")) - 1
        return float(self.speed[k]), max(1.0, self.left[k] - (ran - self.begin[k]) * self.speed[k])


def adaptation(
    kind: str, workers: int, steps: float, mode: str, speeds: Speeds, length: float
) -> Adaptation:
    """Run a job alone in rounds.

    Args:
        kind: Its type in the trace: model and first batch size.
        workers: How many it takes.
        steps: Its steps at that size.
        mode: ``static``, ``accordion`` or ``gns``.
        speeds: Of all sizes.
        length: Seconds of a round.
    """
    model, first = model_of(kind)
    changes = mode != "static" and first < LARGEST.get(model, first)
    size, asked, total, done, rounds = first, first, ceil(steps), 0, 0
    speed = speeds[model, first, workers]
    begin, pace, left = [0.0], [speed], [float(total)]
    while True:
        step = min(int(speed * length), max(total - done, 0))
        done += step
        if done >= total:
            seconds = rounds * length + step / speed
            return Adaptation(seconds, np.array(begin), np.array(pace), np.array(left))
        rounds += 1
        if asked != size and (model, asked, workers) in speeds:
            total, done = resized(total, done, size, asked, DATA[model])
            size, speed = asked, speeds[model, asked, workers]
            begin.append(rounds * length)
            pace.append(speed)
            left.append(float(max(total - done, 1)))
        if changes:
            epoch = ceil(done / ceil(DATA[model] / size))
            asked = asked_size(model, first, size, workers, epoch, mode)


def resized(total: int, done: int, size: int, asked: int, data: int) -> tuple[int, int]:
    """Steps in all and steps done at another batch size: the epochs stay, those done round up."""
    epochs, ran = (ceil(steps / ceil(data / size)) for steps in (total, done))
    each, rescaled = ceil(data / asked), ceil(total * size / asked)
    return rescaled if ceil(rescaled / each) == epochs else each * epochs, ran * each


def asked_size(model: str, first: int, size: int, workers: int, epoch: int, mode: str) -> int:
    """The batch size that a job asks for in an epoch."""
    most = LARGEST[model]
    if mode == "accordion":
        return first if _critical(model, first, epoch) else most
    doublings = sum(epoch + 1 >= at for at in DOUBLED.get((model, first, workers), ()))
    return min(2 * size, most) if min(first * 2**doublings, most) > size else size


def _critical(model: str, first: int, epoch: int) -> bool:
    """Whether ``accordion`` keeps the first size in an epoch."""
    if model == "ResNet-50":
        return epoch % 30 < 10
    if model == "ResNet-18":
        return epoch < 10 or 150 <= epoch < 160 or 250 <= epoch < 260
    if model == "Recommendation":
        return epoch < (40 if first == 2048 else 30 if first < 2048 else 10)
    return epoch < 10


def model_of(kind: str) -> tuple[str, int]:
    """Model and batch size of a type of jobs."""
    found = re.fullmatch(r"(.+) \(batch size (\d+)\)", kind)
    return (found[1], int(found[2])) if found else (kind, 1)


def modes(path: Path) -> tuple[str, ...]:
    """The mode of each job of a trace."""
    with gzip.open(path, "rt") as lines:
        return tuple(line.split("\t")[7] for line in lines if line.strip())


def speeds_of(path: Path, worker: str) -> Speeds:
    """Steps a second of all models, batch sizes and workers on a type of worker."""
    found = read_throughputs(path)
    row = found.throughput[found.clusters.index(worker)]
    keys = (
        (*model_of(kind), int(n))
        for kind, n in zip(found.job_types, found.scale_factors, strict=True)
    )
    return {key: float(speed) for key, speed in zip(keys, row, strict=True) if speed > 0.0}


def adapted(trace: Trace, mode: tuple[str, ...], speeds: Speeds, length: float) -> list[Adaptation]:
    """What becomes of each job of a trace."""
    given = zip(trace.kind, trace.size.tolist(), trace.steps.tolist(), mode, strict=True)
    return [adaptation(*job, speeds, length) for job in given]


def in_seconds(trace: Trace, jobs: list[Adaptation]) -> Trace:
    """The trace with seconds of running as the steps of a job."""
    seconds = np.array([job.seconds for job in jobs])
    return replace(trace, steps=seconds, speed=np.where(trace.speed > 0.0, 1.0, 0.0))


def believing(policy: Policy, trace: Trace, jobs: list[Adaptation]) -> Policy:
    """A policy that decides by speeds and steps left as Shockwave's scheduler has them."""
    known = dict(zip(trace.name, jobs, strict=True))

    def decide(snapshot: JobsSnapshot) -> Shares:
        ran = zip(snapshot.name, (snapshot.steps - snapshot.left).tolist(), strict=True)
        speed, left = np.array([known[name].believed(done) for name, done in ran]).reshape(-1, 2).T
        seen = replace(
            snapshot,
            speed=np.where(snapshot.speed > 0.0, speed[:, None], 0.0),
            left=left,
            steps=np.maximum(snapshot.steps, left),
        )
        return policy(seen)

    return decide

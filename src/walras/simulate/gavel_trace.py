"""Gavel's stream of jobs, drawn as its authors drew it."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass

import numpy as np

from walras import checks
from walras.data import gavel_pairs, load
from walras.data.gavel import GavelThroughputs
from walras.simulate.trace import Trace

_REFERENCE = "v100"  # durations are of this type
_LONG = 0.8  # chance that a job is short
_HIGH, _HIGH_WEIGHT = 0.2, 5.0  # chance and weight of a job of high priority
_SHORT_POWERS, _LONG_POWERS = (1.5, 3.0), (3.0, 4.0)  # of ten, minutes


def gavel_trace(
    rate: float = 2.0,
    jobs: int = 5001,
    seed: int = 0,
    multiple: bool = False,
    *,
    sharing: bool = False,
    priorities: bool = False,
    synthetic: bool | None = None,
) -> Trace:
    """Draw the stream of training jobs of Gavel's evaluation: Poisson arrivals, long-tailed work.

    A job lasts 10^U(1.5, 3) minutes on a V100 with chance 0.8, else 10^U(3, 4). Its class is one of
    the 26 measured ones, in the order of the measured file: the order decides what a seed gives.
    With ``multiple``, 70 % of the jobs take one GPU, 10 % two, 15 % four and 5 % eight, and a job
    of several GPUs is of a class that was measured so. With ``priorities``, a fifth of the jobs has
    weight 5; that is one more draw a job, so the stream is another. Sources: Narayanan et al., OSDI
    2020, section 7.1; the streams of Python's :mod:`random` are those of its authors' simulator.

    Args:
        rate: Jobs an hour, > 0.
        jobs: Number of jobs.
        seed: Of the random numbers; the paper has 0, 1 and 2.
        multiple: Whether jobs may take several GPUs.
        sharing: Whether the trace has the speeds of two jobs that share their GPUs.
        priorities: Whether jobs have weight 5 with chance 0.2; all have weight 1 if not.
        synthetic: As in :func:`walras.data.load`, for the speeds.

    Returns:
        The trace; its ``source`` says whether the speeds were measured.

    Raises:
        InputError: A number is out of range.
        DataError: The speeds are wanted measured and are not found.

    Example:
        >>> import walras as wl
        >>> trace = wl.simulate.gavel_trace(rate=2.0, jobs=3, synthetic=True)
        >>> trace.arrival.round().tolist(), trace.size.tolist()
        ([0.0, 489.0, 1904.0], [1, 1, 1])
    """
    rate = checks.number(rate, "rate", above=0.0)
    jobs = checks.whole(jobs, "jobs", 1, 10**7)
    seed = checks.whole(seed, "seed")
    multiple, sharing = checks.flag(multiple, "multiple"), checks.flag(sharing, "sharing")
    priorities = checks.flag(priorities, "priorities")
    found = load("gavel", synthetic=synthetic)
    templates = _templates(found)
    draws = random.Random(seed + 2)
    drawn = []
    weight = np.ones(jobs)
    for j in range(jobs):
        drawn.append(_draw(draws, templates, multiple=multiple))
        if priorities and draws.random() <= _HIGH:
            weight[j] = _HIGH_WEIGHT
    class_, size, seconds = (np.array(column) for column in zip(*drawn, strict=True))
    names = [templates[k].name for k in class_]
    column = found.columns(names, size)
    speed = found.throughput[:, column].T
    paired = gavel_pairs.speeds(synthetic=synthetic).speed if sharing else np.zeros((0, 0, 3))
    return Trace(
        name=tuple(map(str, range(jobs))),
        kind=tuple(names),
        size=size,
        steps=np.floor(seconds * speed[:, found.clusters.index(_REFERENCE)]),
        weight=weight,
        arrival=_arrivals(rate, jobs, seed),
        types=found.clusters,
        speed=speed,
        source=f"drawn as Gavel's, {rate:g} jobs an hour, seed {seed}, speeds {found.source}",
        group=column if sharing else np.full(jobs, -1),
        paired=paired,
    )


@dataclass(frozen=True)
class _Template:
    """A class of jobs, and whether it was measured on several GPUs."""

    name: str
    several: bool


def _templates(found: GavelThroughputs) -> list[_Template]:
    pairs = set(zip(found.job_types, found.scale_factors.tolist(), strict=True))
    one = dict.fromkeys(name for name, gpus in pairs if gpus == 1)
    ordered = dict.fromkeys(name for name in found.job_types if name in one)
    return [_Template(name, all((name, gpus) in pairs for gpus in (2, 4, 8))) for name in ordered]


def _draw(
    draws: random.Random, templates: list[_Template], *, multiple: bool
) -> tuple[int, int, float]:
    """Class, size and seconds of a job; the order of the draws is part of the stream."""
    size = _size(draws.random())
    if not multiple:
        size = 1
    powers = _LONG_POWERS if draws.random() >= _LONG else _SHORT_POWERS
    seconds = 60.0 * 10.0 ** draws.uniform(*powers)
    while True:
        class_ = draws.choice(range(len(templates)))
        if size == 1 or templates[class_].several:
            return class_, size, seconds


def _size(chance: float) -> int:
    if chance < 0.7:
        return 1
    if chance <= 0.8:
        return 2
    return 4 if chance < 0.95 else 8


def _arrivals(rate: float, jobs: int, seed: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """(jobs,) seconds; the first job arrives at 0."""
    draws = random.Random(seed + 3)
    mean = 3600.0 / rate
    gaps = [-math.log(1.0 - draws.random()) / (1.0 / mean) for _ in range(jobs - 1)]
    return np.concatenate([[0.0], np.cumsum(gaps)])

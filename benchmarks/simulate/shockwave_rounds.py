"""Rounds as Shockwave's simulator has them, on one type of workers.

What differs from :func:`walras.simulate.run`, by the code of Zheng et al., NSDI 2023:

- A round ends with the last of its jobs. A job does as many whole steps as fit, which take a little
  less than a round, and only the seconds of its steps count as time that it has had. So jobs with
  equal shares hardly ever have equal priorities.
- A job that did not run in the round before loses 20 s, but not in a last part of a round.
- Shares are not checked: they may be more than the workers.
- Where a new batch size leaves nothing to do, as epochs round up, a job holds its workers for five
  rounds without a step, and leaves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import ceil

import numpy as np

from benchmarks.simulate.adaptation import DATA, LARGEST, Speeds, asked_size, model_of, resized
from walras.rounds import JobsSnapshot, Shares
from walras.simulate import Trace
from walras.types import Floats

Policy = Callable[[JobsSnapshot], Shares]

ROUND, BETWEEN, LOST = 120.0, 1000.0, 20.0  # seconds
_NEARLY = 5.0  # seconds: a round that a job uses up to these is no last part
_TRIES = 5  # rounds without a step after which a job leaves
_LEAST = 1e-9  # steps: a snapshot has no job without any


@dataclass(eq=False)
class _Job:
    """A job; steps are counted at its present batch size."""

    name: str
    model: str
    first: int
    size: int
    mode: str
    arrival: float
    total: int
    speed: float
    done: int = 0
    batch: int = 0
    asked: int = 0
    tries: int = 0
    share: float | None = None  # None before the first decision with it
    had: float = ROUND / 2  # seconds since the decision, and half a round
    owed: float = 0.0  # seconds before it

    def __post_init__(self) -> None:
        self.batch = self.asked = self.first

    @property
    def left(self) -> int:
        return self.total - self.done

    def change(self, speeds: Speeds) -> None:
        """Take the batch size that was asked for, where its speed is known."""
        speed = speeds.get((self.model, self.asked, self.size))
        if self.asked != self.batch and speed is not None:
            data = DATA[self.model]
            self.total, self.done = resized(self.total, self.done, self.batch, self.asked, data)
            self.batch, self.speed = self.asked, speed
        self.asked = self.batch

    def ask(self) -> None:
        """Ask for the batch size of the present epoch."""
        if self.mode != "static" and self.first < LARGEST.get(self.model, self.first):
            epoch = ceil(self.done / ceil(DATA[self.model] / self.batch))
            self.asked = asked_size(self.model, self.first, self.batch, self.size, epoch, self.mode)


@dataclass(frozen=True, eq=False)
class Played:
    """What came of it.

    Attributes:
        makespan: Seconds from the first arrival to the last end.
        completion: (N,) seconds of each job from its arrival to its end.
        used: Share of the worker-seconds in which jobs ran.
    """

    makespan: float
    completion: Floats
    used: float


def play(
    trace: Trace,
    mode: Sequence[str],
    speeds: Speeds,
    workers: int,
    policy: Policy,
    *,
    full: bool = False,
) -> Played:
    """Run a policy in Shockwave's rounds.

    Args:
        trace: The jobs.
        mode: (N,) how each changes its batch size: ``static``, ``accordion`` or ``gns``.
        speeds: Of all batch sizes.
        workers: How many there are.
        policy: The policy; it sees the present speeds, and steps left as if these stayed.
        full: Whether as many steps as fit take a whole round, as they do not there.
    """
    jobs = []
    for j, kind in enumerate(trace.kind):
        model, first = model_of(kind)
        size = int(trace.size[j])
        known = (trace.name[j], model, first, size, mode[j], float(trace.arrival[j]))
        jobs.append(_Job(*known, ceil(trace.steps[j]), speeds[model, first, size]))
    rounds = _Rounds(jobs, speeds, workers, policy, full)
    while rounds.coming or rounds.here:
        rounds.next()
    ends = np.array([rounds.ends[name] for name in trace.name])
    seconds = rounds.now - float(trace.arrival[0])
    return Played(seconds, ends - trace.arrival, rounds.busy / workers / seconds)


@dataclass(eq=False)
class _Rounds:
    coming: list[_Job]
    speeds: Speeds
    workers: int
    policy: Policy
    full: bool
    here: list[_Job] = field(default_factory=list)
    now: float = 0.0
    busy: float = 0.0  # worker-seconds
    given: float = 0.0  # seconds of all jobs since the decision
    decided: float = 0.0
    changed: bool = False
    before: set[str] | None = None  # what ran in the last round; None before the first
    last: Shares | None = None
    ends: dict[str, float] = field(default_factory=dict)

    def next(self) -> None:
        """Let jobs come, decide where it is time, and run a round."""
        if not self.here:
            self.now = max(self.now, self.coming[0].arrival)
        while self.coming and self.coming[0].arrival <= self.now:
            self.here.append(self.coming.pop(0))
            self.changed = True
        if self.changed and (self.now - self.decided >= BETWEEN or self.decided == 0.0):
            self._decide()
        chosen = self._fill()
        begin = self.now
        for job in chosen:
            self._work(job, begin)
        self.before = {job.name for job in chosen}
        for job in self.here:
            job.ask()

    def _decide(self) -> None:
        """Settle what was owed, and take new shares; each job begins with half a round."""
        since, here = self.now - self.decided, self.here
        for job in here:
            job.owed += (job.share or 0.0) * since - (job.had - ROUND / 2)
            job.had = ROUND / 2
        self.given = ROUND / 2 * len(here)
        self.decided, self.changed = self.now, False
        left = np.maximum([float(job.left) for job in here], _LEAST)
        snapshot = JobsSnapshot.of(
            [job.name for job in here],
            at=self.now,
            round_seconds=ROUND,
            speed=np.array([[job.speed] for job in here]),
            workers=[self.workers],
            size=[job.size for job in here],
            arrival=[job.arrival for job in here],
            steps=np.maximum([float(job.total) for job in here], left),
            left=left,
            last=self.last,
        )
        self.last = self.policy(snapshot)
        for job, share in zip(here, self.last.time[:, 0].tolist(), strict=True):
            job.share = share

    def _fill(self) -> list[_Job]:
        """The jobs of the next round, by share / share had, then by what they are owed."""

        def rank(job: _Job) -> tuple[float, float, float]:
            share = job.share or 0.0
            return share / (job.had / self.given), job.owed, share

        free, chosen = self.workers, []
        for job in sorted(self.here, key=rank, reverse=True):
            if job.size <= free:
                free -= job.size
                chosen.append(job)
        return [job for job in chosen if job.share is not None]  # others keep workers in vain

    def _work(self, job: _Job, begin: float) -> None:
        """Let a job do its steps of the round that begins; the round lasts as long as they do."""
        steps = min(int(job.speed * ROUND), job.left)
        whole = self.full and steps == int(job.speed * ROUND)
        end = begin + (ROUND if whole else max(steps, 0) / job.speed)
        seconds = end - begin  # rounded so, which breaks ties of equal jobs
        self.now = max(self.now, end)
        fresh = self.before is not None and job.name not in self.before
        if fresh and seconds > ROUND - _NEARLY:
            kept = (seconds - LOST) / seconds
            steps, seconds = int(steps * kept), seconds - LOST
        job.tries = 0 if steps > 0 else job.tries + 1
        job.done += max(steps, 0)
        job.had += seconds
        self.given += seconds
        self.busy += seconds * job.size
        over = job.tries == _TRIES if steps <= 0 else job.left <= 0
        if over:
            self.here.remove(job)
            self.ends[job.name] = end
        self.changed |= over or steps <= 0
        job.change(self.speeds)

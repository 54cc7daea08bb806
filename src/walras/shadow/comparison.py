"""Compare a log with what the exchange's policy would have done."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from walras import checks
from walras.errors import StoppedError
from walras.policies.placements import Policy
from walras.progress import OnProgress, Progress, Stoppable
from walras.shadow import bounds
from walras.shadow.counterfactual import OFTEN, Model, Observed
from walras.shadow.intervals import Rerun, deviations, ends
from walras.shadow.jobs import DAY, JobLog
from walras.shadow.learning import learn, observed, table
from walras.shadow.measures import Days, means
from walras.shadow.replay import Arrivals, Placed, replay
from walras.shadow.result import Shadow
from walras.shadow.support import (
    LEAST_DAYS,
    Overlap,
    Split,
    capacity,
    overlap,
    refuse_saturated,
    refuse_without_choice,
    split,
)
from walras.types import Bools, Floats, Longs

_ROUNDS = 8000  # that a replay has at most where no time between them is given
_QUICKEST = 60.0  # seconds between rounds of a small log
_STEPS = 1000  # of progress
_REPLAY = 0.8  # share of the work that the replay is


def compare(
    log: JobLog,
    *,
    train: float = 0.5,
    slots: Mapping[str, int] | None = None,
    prices: Mapping[str, float] | None = None,
    policy: Policy | None = None,
    only_seen: bool = False,
    least_overlap: float = 0.5,
    round_seconds: float | None = None,
    resamples: int = 400,
    level: float = 0.9,
    seed: int = 0,
    on_progress: OnProgress | None = None,
) -> Shadow:
    """Learn on a log's past, replay the rest by the exchange's policy, and compare the two.

    The jobs that had ended at a midnight train the predictors. What came after is replayed in
    virtual time on the clusters' slots: a round each ``round_seconds``, decided by
    :func:`walras.policies.placements.decide`. A job that the policy runs where the log did takes
    the time that it took; elsewhere, what a model of the replayed days says. An interval covers the
    mean over days like those replayed, with the errors of that model.

    Args:
        log: The jobs.
        train: Share of the days to learn from, 0 to 1; three days at least are replayed.
        slots: Slots of clusters, by name; the most that the log used at once if not given.
        prices: Price of a slot-hour, by cluster; 1 if not given.
        policy: Settings of the exchange; its defaults if None.
        only_seen: Whether jobs go only to clusters where five of their kind ran in the past, and to
            the one of the log; else to any cluster that is large enough.
        least_overlap: Least share of the moved jobs of whose kind five must have run there.
        round_seconds: Seconds between rounds; 60, or more where that would be over 8,000 rounds.
        resamples: How often days are drawn again for the intervals.
        level: Probability that an interval holds.
        seed: Of the rounds and draws; the same seed gives the same result.
        on_progress: Called with a Progress that counts steps; True stops it with the days so far.

    Returns:
        The comparison.

    Raises:
        DataError: The log cannot support it: one cluster, too few days or jobs, too little overlap,
            or a queue that grows without end.
        InputError: A setting is out of range, or a cluster has fewer slots than the log used.
        StoppedError: It was stopped before three days were replayed.

    Example:
        >>> import walras as wl
        >>> jobs = wl.shadow.synthetic_log(days=12, seed=3)
        >>> found = wl.shadow.compare(wl.shadow.read_jobs(jobs.frame), slots=jobs.slots)
        >>> bool(found.low[2] < found.difference[2] < found.high[2])
        True
    """
    checks.of_kind(log, JobLog, "log", "a JobLog", remedy="read it with wl.shadow.read_jobs")
    train = checks.number(train, "train", above=0.0, below=1.0)
    level = checks.number(level, "level", above=0.0, below=1.0)
    least_overlap = checks.number(least_overlap, "least_overlap", 0.0, 1.0)
    resamples = checks.whole(resamples, "resamples", 20, 100_000)
    seed = checks.whole(seed, "seed", 0, 2**31)
    room = capacity(log, slots)
    cost = _prices(log, prices)
    cut = split(log, train)
    load = refuse_saturated(log, cut, room)
    span = float(log.submit.max()) - cut.cut
    if round_seconds is None:
        round_seconds = max(_QUICKEST, float(np.ceil(span / _ROUNDS)))
    round_seconds = checks.number(round_seconds, "round_seconds", 1e-3, DAY)
    made = Study(log, cut, room, cost, policy or Policy(), round_seconds, seed)
    heard = Heard(Stoppable(on_progress))
    made.prepare(only_seen)
    placed = made.run(made.seconds, heard)
    return made.result(placed, (least_overlap, resamples, level, load), heard)


def _prices(log: JobLog, prices: Mapping[str, float] | None) -> Floats:
    found = np.ones(len(log.clusters))
    given = dict(prices or {})
    checks.known_keys(given, log.clusters, "prices")
    for name, value in given.items():
        price = checks.number(value, f"prices[{name}]", 0.0, 1e9)
        found[log.clusters.index(name)] = price
    return found


class Heard:
    """Counts the steps of the replay and of the draws as parts of one work."""

    def __init__(self, hook: Stoppable) -> None:
        self.hook, self._began = hook, time.perf_counter()

    def __call__(self, share: float, note: str) -> bool:
        """Show how far the work is; True where it is to stop."""
        elapsed = time.perf_counter() - self._began
        return self.hook(Progress(int(share * _STEPS), elapsed=elapsed, total=_STEPS, note=note))


@dataclass(eq=False)
class Study:
    """A comparison while it is made."""

    log: JobLog
    cut: Split
    room: Longs
    price: Floats
    policy: Policy
    round_seconds: float
    seed: int

    def __post_init__(self) -> None:
        log, which = self.log, self.cut.replayed
        _, self.kind = np.unique(np.array(log.name), return_inverse=True)
        _, number = np.unique(self.kind[which], return_inverse=True)
        self.jobs: Observed = observed(log, which, number.astype(np.int64))

    def prepare(self, only_seen: bool) -> None:
        """Train on the past, and fit what replayed jobs would have done elsewhere."""
        log, cut = self.log, self.cut
        self.known = learn(log, cut.past, cut.replayed, self.kind, self.seed)
        self.model = Model.fit(self.jobs)
        self.given = self._arrivals(only_seen)
        every = [self._seconds_on(i) for i in range(len(log.clusters))]
        self.seconds = np.stack(every, axis=1)

    def run(self, seconds: Floats, heard: Heard | None = None) -> Placed:
        """Replay the arrivals.

        Args:
            seconds: (n, M) what each takes on each cluster.
            heard: Is shown how far it is.
        """
        n = len(self.given)

        def on_count(done: int) -> bool:
            return heard is not None and heard(_REPLAY * done / n, "replay")

        return replay(
            self.given,
            table(self.known),
            lambda j, i: float(seconds[j, i]),
            self.policy,
            self.round_seconds,
            self.seed,
            on_count,
        )

    def _seconds_on(self, cluster: int) -> Floats:
        n = len(self.cut.replayed)
        return self.model.seconds(self.jobs, np.arange(n), np.full(n, cluster))

    def _arrivals(self, only_seen: bool) -> Arrivals:
        log, cut = self.log, self.cut
        which, busy = cut.replayed, cut.busy
        sets, requires = self._sets(only_seen)
        refuse_without_choice(log, sets, requires)
        return Arrivals(
            log.submit[which],
            log.slots[which],
            requires,
            sets,
            log.clusters,
            self.room,
            self.price,
            log.cluster[busy],
            log.slots[busy],
            log.end[busy],
            cut.cut,
            float(np.median(log.seconds[cut.past])),
        )

    def _sets(self, only_seen: bool) -> tuple[Bools, Longs]:
        """Sets of clusters, and which one each replayed job may go to."""
        log, which, m = self.log, self.cut.replayed, len(self.log.clusters)
        if not only_seen:
            return np.ones((1, m), np.bool_), np.zeros(len(which), np.int64)
        kinds = int(self.kind.max()) + 1
        cell = self.kind[self.cut.past] * m + log.cluster[self.cut.past]
        seen = np.bincount(cell, minlength=kinds * m).reshape(kinds, m) >= OFTEN
        may = seen[self.kind[which]]
        may[np.arange(len(which)), log.cluster[which]] = True
        sets, requires = np.unique(may, axis=0, return_inverse=True)
        return sets, requires.ravel().astype(np.int64)

    def result(
        self, placed: Placed, settings: tuple[float, int, float, float], heard: Heard
    ) -> Shadow:
        """Measure, draw days again, and bound."""
        least_overlap, resamples, level, load = settings
        log, cut = self.log, self.cut
        days = self._days(placed, heard)
        measured = days.day >= 0
        rests = overlap(log, self.jobs, placed, measured, least_overlap)
        which = cut.replayed
        counted = self.jobs.failed & self.jobs.counts
        did, jobs = days.sums(
            log.start[which],
            self.jobs.seconds,
            counted.astype(np.float64),
            self.price[log.cluster[which]],
        )
        would, _ = self._policy_sums(days, placed)
        rerun = Rerun(self.jobs, days, self.given, placed, self.round_seconds)

        def on_count(done: int) -> bool:
            return heard(_REPLAY + (1.0 - _REPLAY) * done / resamples, "intervals")

        draws = deviations(rerun, did, resamples, self.seed, on_count)
        reach = ends(draws, days.count, level)
        heard(1.0, "intervals")
        of_log, of_policy = means(did, jobs), means(would, jobs)
        change = of_policy - of_log
        return Shadow(
            log=of_log,
            policy=of_policy,
            low=change - reach,
            high=change + reach,
            bound=means(self._bound(days), jobs),
            daily=np.stack([did, would]),
            jobs=jobs,
            level=level,
            clusters=log.clusters,
            slots=self.room,
            shares=self._shares(placed, measured),
            load=load,
            learned_from=len(cut.past),
            left_out=log.left_out,
            round_seconds=self.round_seconds,
            rounds=placed.rounds,
            origin=log.origin,
            status=heard.hook.status,
            **_facts(rests),
        )

    def _days(self, placed: Placed, heard: Heard) -> Days:
        """The days that are measured: all, or those of which all jobs were placed."""
        day = self.cut.day
        count = self.cut.days
        missing = day[(placed.cluster < 0) & (day >= 0)]
        if len(missing):
            count = int(missing.min())
            if count < LEAST_DAYS:
                raise StoppedError(
                    f"was stopped after {count} days of the replay",
                    where="compare",
                    allowed=f"{LEAST_DAYS} days at least, to draw from",
                    remedy="let it run longer",
                )
        which = self.cut.replayed
        day = np.where((day < count) & (placed.cluster >= 0), day, -1)
        return Days(day, self.log.submit[which], self.log.slots[which], count)

    def _policy_sums(self, days: Days, placed: Placed) -> tuple[Floats, Longs]:
        n = len(placed.cluster)
        at, cluster = np.arange(n), np.maximum(placed.cluster, 0)
        return days.sums(
            np.where(placed.cluster >= 0, placed.start, 0.0),
            self.seconds[at, cluster],
            self.model.failures(self.jobs, at, cluster),
            self.price[cluster],
        )

    def _bound(self, days: Days) -> Floats:
        n, m = self.seconds.shape
        allowed = self.given.sets[self.given.requires]
        allowed = allowed & (self.room[None, :] >= self.given.slots[:, None])
        allowed[np.arange(n), self.jobs.cluster] = True
        at = np.arange(n)
        failed = np.stack(
            [self.model.failures(self.jobs, at, np.full(n, i)) for i in range(m)], axis=1
        )
        found, _ = bounds.least(
            days,
            np.where(allowed, self.seconds, np.inf),
            np.clip(failed, 0.0, 1.0),
            self.price,
            int(self.room.sum()),
        )
        return found

    def _shares(self, placed: Placed, measured: Bools) -> Floats:
        m = len(self.log.clusters)
        sides = (self.jobs.cluster[measured], placed.cluster[measured])
        return np.stack([np.bincount(side, minlength=m) / max(len(side), 1) for side in sides])


def _facts(found: Overlap) -> dict[str, float]:
    return {
        "moved": found.moved,
        "overlap": found.supported,
        "moved_overlap": found.moved_supported,
    }

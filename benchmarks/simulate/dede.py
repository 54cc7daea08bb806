"""DeDe's largest cluster in virtual time: quality against time of ours, exact, greedy, POP, DeDe.

456 types with 16,520 instances, jobs of 1 to 32 instances that come every 100 s, a third of them
restricted to some types; 1,900 are there at the begin, in the midst of their work. The speeds of
the 456 types are not released; here they follow the law of the ten that are (``rounds.dede_like``),
so figures are of the same size and law, not of the same numbers. Work has Gavel's law, stretched so
that as many jobs end as come. Max-min is of rates relative to an equal share of every type, as in
POP; by workers, as in Gavel, one job on its best type would be the whole answer at this load.

Ours decides every round of six minutes, from its last decision. The others decide rounds of the
same sequence, evenly spread, and change nothing: the two rules for Gandiva all of them, POP ten
(``--some 200``: all), DeDe's scheme and the exact solver ``--few`` (three). The scheme begins cold;
in a second row it decides ``--some`` rounds one after the other, each from its own last answer, as
the paper has it. Quality of max-min is the least
rate over its best bound; of proportional fairness it is the geometric mean of the rates over that
of the best bound.
``core s`` counts processor seconds of all cores and processes, which other load on the machine
hardly changes; ``ideal s`` is what the methods' authors count: POP's longest part, DeDe's
subproblems on 64 cores (DeDe*). ``sd`` is the standard deviation over the rounds.
Source: Xu, Yu and Yan, OSDI 2025, section 7.1.1, figures 4 and 5 and appendix A.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from walras import policies, solve
from walras.domains import cluster_scheduling as cs
from walras.domains.cluster_scheduling.rounds import dede_like
from walras.engines import ADMM, POP, Engine
from walras.policies.solved import labels, solved, speeds
from walras.rounds import JobsSnapshot, Shares
from walras.separable import Separable
from walras.simulate import Cluster, Run, Trace, run
from walras.simulate.time_shared import Policy
from walras.solution import Solution
from walras.types import Floats

TYPES, INSTANCES, JOBS, ROUNDS = 456, 16_520, 1_900, 200
DAY = 241  # rounds of six minutes, and the first
SEED, TOLERANCE, THREADS = 100, 1e-4, 2
LIMIT = 300.0  # seconds of a baseline in a round
_BETWEEN, _ROUND = 100.0, 360.0  # seconds: of arrivals, of a round
_UNITS = 8  # instances come in eights, up to 64 of a type


def _max_min(jobs: JobsSnapshot) -> Separable:
    return cs.max_min(_by_share(jobs), jobs.size, jobs.workers, **labels(jobs))


def _proportional(jobs: JobsSnapshot) -> Separable:
    return cs.proportional_fairness(speeds(jobs), jobs.size, jobs.workers, **labels(jobs))


def _by_share(jobs: JobsSnapshot) -> Floats:
    """(T, N) speeds relative to what an equal share of every type gives."""
    return cs.normalise(speeds(jobs), jobs.size, jobs.workers, per="share")


OBJECTIVES: Mapping[str, Callable[[JobsSnapshot], Separable]] = {
    "max-min": _max_min,
    "proportional": _proportional,
}
"""Objective -> how a round is stated."""

OURS, SCHEME, WARM = "ours, warm", "DeDe's scheme", "DeDe's scheme, warm"
GREEDY = "greedy, as Gandiva"

ENGINES: Mapping[str, str | Engine] = {
    "ours, cold": "auto",
    **{f"POP-{parts}": POP(parts=parts) for parts in (4, 16, 64)},
    SCHEME: ADMM(mode="paper"),
    WARM: ADMM(mode="paper"),
    "exact": "exact",
}
"""Method -> engine that decides a round by itself."""

SOME, FEW = 10, 3  # rounds that engines decide, and slow ones
SLOW = (SCHEME, "exact")


def _greedy(jobs: JobsSnapshot) -> Floats:
    """(T, N) job after job to the type where it runs fastest beside those already there."""
    return cs.greedy(speeds(jobs), jobs.size, jobs.workers)


def _equal_parts(jobs: JobsSnapshot) -> Floats:
    """(T, N) equal parts of all workers: nothing is known of pairs, so that no job is in one."""
    return np.asarray(policies.gandiva()(jobs).time.T)


RULES: Mapping[str, Callable[[JobsSnapshot], Floats]] = {
    GREEDY: _greedy,
    "equal parts, Gavel's Gandiva": _equal_parts,
}
"""Method -> rule without a solver, which decides every round."""

METHODS = (*ENGINES, *RULES)


def drawn(
    rounds: int = ROUNDS,
    jobs: int = JOBS,
    types: int = TYPES,
    seed: int = SEED,
    between: float | None = None,
) -> tuple[Trace, Cluster]:
    """Jobs that are there and that come within ``rounds``, and the cluster.

    Args:
        rounds: Rounds of six minutes.
        jobs: Jobs at the begin, and as many stay.
        types: Types of instances.
        seed: Of the draws.
        between: Mean seconds between arrivals; None: in proportion to DeDe's jobs.
    """
    rng = np.random.default_rng((seed, 3))
    between = _BETWEEN * JOBS / jobs if between is None else between
    gaps = rng.exponential(between, int(2 * rounds * _ROUND / between) + 20)
    later = np.cumsum(gaps)
    later = later[later < rounds * _ROUND]
    n = jobs + len(later)
    law = dede_like(types, n, seed)
    speed, size = law.throughput.to_numpy().T, law.size.astype(np.int64)
    instances = INSTANCES if types == TYPES else 36 * types
    workers = _instances(rng, types, instances)
    mean = speed @ workers / workers.sum()
    stay = between * jobs  # mean seconds that a job is there
    seconds = np.concatenate([_midway(rng, jobs, stay), _work(rng, len(later), stay)])
    trace = Trace(
        name=tuple(f"j{k}" for k in range(n)),
        kind=("job",) * n,
        size=size,
        steps=seconds * mean,
        weight=np.ones(n),
        arrival=np.concatenate([np.zeros(jobs), later]),
        types=tuple(law.throughput.index),
        speed=speed,
        source=law.source,
    )
    return trace, Cluster(dict(zip(trace.types, workers.tolist(), strict=True)))


def _instances(rng: np.random.Generator, types: int, total: int) -> Floats:
    """(types,) 8 to 64 instances in eights, which add up to the total."""
    units = rng.integers(1, 9, types)
    while units.sum() != total // _UNITS:
        k = rng.integers(types)
        units[k] = np.clip(units[k] + np.sign(total // _UNITS - units.sum()), 1, 8)
    return np.asarray(units * _UNITS)


def _work(rng: np.random.Generator, count: int, stay: float) -> Floats:
    """(count,) seconds by Gavel's law, stretched to a mean."""
    powers = np.where(
        rng.random(count) < 0.8, rng.uniform(1.5, 3.0, count), rng.uniform(3.0, 4.0, count)
    )
    mean = 0.8 * (1e3 - 10**1.5) / (1.5 * np.log(10)) + 0.2 * 9e3 / np.log(10)  # minutes
    return np.asarray(10.0**powers / mean * stay)


def _midway(rng: np.random.Generator, count: int, stay: float) -> Floats:
    """(count,) seconds left of jobs that are met in the midst: long ones are met more often."""
    pool = _work(rng, 100 * count, stay)
    met = rng.choice(pool, count, p=pool / pool.sum())
    return np.asarray(met * rng.uniform(0.01, 1.0, count))


@dataclass(eq=False)
class Compared:
    """Our warm policy, beside which others decide some rounds that it has decided.

    Attributes:
        objective: Name of what is maximised.
        policy: Ours.
        others: Method -> rounds that it decides.
        rows: Method -> one row a round that it decided.
        last: The last answer of DeDe's scheme that goes on from its own.
    """

    objective: str
    policy: Policy
    others: Mapping[str, Collection[int]]
    rows: dict[str, list[dict[str, float]]] = field(default_factory=lambda: {OURS: []})
    last: Solution | None = None

    def __call__(self, snapshot: JobsSnapshot) -> Shares:
        """Decide, note it, and let the others decide."""
        began = _clocks()
        found = self.policy(snapshot)
        own = self.rows[OURS]
        own.append(_since(began) | self._judged(snapshot, found.value, found.bound))
        for name, rounds in self.others.items():
            if len(own) - 1 in rounds:
                row = self._decided(name, snapshot, found.bound)
                self.rows.setdefault(name, []).append(row)
        return found

    def _decided(self, name: str, snapshot: JobsSnapshot, bound: float) -> dict[str, float]:
        """What another method makes of the round."""
        if name in RULES:
            began = _clocks()
            x = RULES[name](snapshot)
            taken = _since(began)
            return taken | self._judged(snapshot, _value(self.objective, snapshot, x), bound)
        began = _clocks()
        found = solve(
            OBJECTIVES[self.objective](snapshot),
            engine=ENGINES[name],
            tolerance=TOLERANCE,
            time_limit=LIMIT,
            threads=THREADS,
            start=self.last if name == WARM else None,
        )
        taken = _since(began) | {"ideal s": found.timings.ideal}
        if name == WARM:
            self.last = found
        return taken | self._judged(snapshot, found.value, min(bound, found.bound))

    def _judged(self, snapshot: JobsSnapshot, value: float, bound: float) -> dict[str, float]:
        jobs = len(snapshot)
        if self.objective == "max-min":
            quality, unit = value / bound, abs(value)
        else:
            quality, unit = float(np.exp((value - bound) / jobs)), jobs
        return {"jobs": jobs, "quality": quality, "gap": (bound - value) / unit}


def _clocks() -> tuple[float, float]:
    """Seconds of the clock, and of this process's and its ended children's cores."""
    return time.perf_counter(), sum(os.times()[:4])


def _since(began: tuple[float, float]) -> dict[str, float]:
    wall, core = _clocks()
    return {"seconds": wall - began[0], "core s": core - began[1]}


def _value(objective: str, snapshot: JobsSnapshot, x: Floats) -> float:
    """What (T, N) shares of time are worth."""
    if objective == "max-min":
        return float((_by_share(snapshot) * x).sum(axis=0).min())
    return float(np.log((speeds(snapshot) * x).sum(axis=0)).sum())


def simulate(
    objective: str,
    rounds: int,
    others: Mapping[str, Collection[int]],
    *,
    jobs: int = JOBS,
    types: int = TYPES,
    between: float | None = None,
) -> tuple[Compared, Run]:
    """Run our warm policy for some rounds, all of which decide; others decide those that are named.

    Args:
        objective: Name of what is maximised.
        rounds: Rounds of six minutes.
        others: Method -> rounds that it decides.
        jobs: Jobs at the begin, and as many stay.
        types: Types of instances.
        between: Mean seconds between arrivals; None: in proportion to DeDe's jobs.
    """
    trace, cluster = drawn(rounds, jobs, types, between=between)
    policy = solved(objective, OBJECTIVES[objective], engine="auto", warm=True, tolerance=TOLERANCE)
    compared = Compared(objective, policy, others)
    done = run(
        trace,
        cluster,
        compared,
        between_decisions=0.0,
        whole_steps=False,
        on_progress=lambda step: len(compared.rows[OURS]) >= rounds,
    )
    return compared, done


def warm_up(objective: str, methods: Collection[str] = METHODS) -> None:
    """Let all methods decide a small round, so that no measured one loads or compiles kernels."""
    simulate(objective, 2, dict.fromkeys(methods, (1,)), jobs=70, types=8)


def rows(
    objective: str,
    methods: Collection[str] = METHODS,
    rounds: int = ROUNDS,
    some: int = SOME,
    few: int = FEW,
    *,
    jobs: int = JOBS,
    types: int = TYPES,
) -> list[dict[str, object]]:
    """One row a method: how many rounds it decided, their quality, gap and seconds.

    Args:
        objective: Name of what is maximised.
        methods: Who decides beside ours.
        rounds: Rounds of six minutes.
        some: Rounds that engines decide.
        few: Rounds that slow ones decide.
        jobs: Jobs at the begin, and as many stay.
        types: Types of instances.
    """
    others = {name: _spread(name, rounds, some, few) for name in methods}
    compared, done = simulate(objective, rounds, others, jobs=jobs, types=types)
    for name in {OURS, WARM} & compared.rows.keys():  # the first round is cold
        compared.rows[name] = compared.rows[name][1:rounds] or compared.rows[name]
    found = [_row(objective, name, pd.DataFrame(own)) for name, own in compared.rows.items()]
    found[0] |= {"fewest jobs": int(done.active.min()), "most jobs": int(done.active.max())}
    return found


def _spread(name: str, rounds: int, some: int, few: int) -> Collection[int]:
    """The rounds that a method decides."""
    if name in RULES:
        return range(rounds)
    if name == WARM:
        return range(min(some + 1, rounds))
    count = few if name in SLOW else some
    chosen = np.linspace(min(1, rounds - 1), rounds - 1, count).round().astype(int)
    return set(chosen.tolist())


def _row(objective: str, name: str, table: pd.DataFrame) -> dict[str, object]:
    mean, spread = table.mean(), table.std()
    return {
        "objective": objective,
        "method": name,
        "rounds": len(table),
        "quality": float(mean["quality"]),
        "quality sd": float(spread["quality"]),
        "worst quality": float(table["quality"].min()),
        "gap": float(mean["gap"]),
        "seconds": float(mean["seconds"]),
        "most seconds": float(table["seconds"].max()),
        "core s": float(mean["core s"]),
        "core s sd": float(spread["core s"]),
        "ideal s": float(mean.get("ideal s", np.nan)),
    }


def day(rounds: int = DAY, objective: str = "max-min") -> dict[str, object]:
    """A day of 100,000 jobs on 1,000 types, or some rounds of it and what the whole would take.

    Jobs come every 0.864 s and 4,000 are there at a time, so each stays for an hour. The first
    round, which compiles and starts cold, is left out.
    """
    compared, done = simulate(objective, rounds, {}, jobs=4_000, types=1_000, between=0.864)
    table = pd.DataFrame(compared.rows[OURS][1:rounds])
    own = float(done.overhead_seconds[1:].mean())
    return {
        "objective": objective,
        "rounds": len(table),
        "jobs there": float(table["jobs"].mean()),
        "gap": float(table["gap"].mean()),
        "policy s": float(table["seconds"].mean()),
        "policy core s": float(table["core s"].mean()),
        "simulator s": own,
        "day of 240 rounds, minutes": 4.0 * (float(table["seconds"].mean()) + own),
        "of cores, minutes": 4.0 * (float(table["core s"].mean()) + own),
    }

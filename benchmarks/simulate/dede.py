"""DeDe's largest cluster in virtual time: quality against time of ours, exact, greedy, POP, DeDe.

456 types with 16,520 instances, jobs of 1 to 32 instances that come every 100 s, a third of them
restricted to some types; 1,900 are there at the begin, in the midst of their work. The speeds of
the 456 types are not released; here they follow the law of the ten that are (``rounds.dede_like``),
so figures are of the same size and law, not of the same numbers. Work has Gavel's law, stretched so
that as many jobs end as come. Max-min is of rates relative to an equal share of every type, as in
POP; by workers, as in Gavel, one job on its best type would be the whole answer at this load.

Ours decides every round of six minutes, from its last decision. In some rounds, evenly spread, the
others decide the same round alone. Quality of max-min is the least rate over its best bound; of
proportional fairness it is the geometric mean of the rates over that of the best bound. ``core s``
counts processor seconds of all cores, which other load on the machine hardly changes; ``ideal s``
is what the methods' authors count: POP's longest part, DeDe's subproblems on 64 cores (DeDe*).
The conic solver of ``exact`` runs in a process of its own, which ``core s`` leaves out.
Source: Xu, Yu and Yan, OSDI 2025, section 7.1.1, figures 4 and 5 and appendix A.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from walras import solve
from walras.domains import cluster_scheduling as cs
from walras.domains.cluster_scheduling.rounds import dede_like
from walras.engines import ADMM, POP, Engine
from walras.policies.solved import labels, solved, speeds
from walras.rounds import JobsSnapshot, Shares
from walras.separable import Separable
from walras.simulate import Cluster, Run, Trace, run
from walras.simulate.time_shared import Policy
from walras.types import Floats

TYPES, INSTANCES, JOBS, ROUNDS = 456, 16_520, 1_900, 200
DAY = 241  # rounds of six minutes, and the first
Numbers = Floats | pd.Series

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

BASELINES: Mapping[str, str | Engine] = {
    "ours, cold": "auto",
    **{f"POP-{parts}": POP(parts=parts) for parts in (4, 16, 64)},
    "DeDe's scheme": ADMM(mode="paper"),
    "exact": "exact",
}
"""Method -> engine."""


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
class Watched:
    """Our warm policy, with what it took, and the snapshots of some decisions.

    Attributes:
        policy: The policy.
        sample: Decisions whose snapshots are kept.
        rows: One row a decision.
        kept: Snapshots with the decision made.
    """

    policy: Policy
    sample: frozenset[int]
    rows: list[dict[str, float]] = field(default_factory=list)
    kept: list[tuple[JobsSnapshot, Shares]] = field(default_factory=list)

    def __call__(self, snapshot: JobsSnapshot) -> Shares:
        """Decide, and note it."""
        wall, core = time.perf_counter(), time.process_time()
        found = self.policy(snapshot)
        row = {"jobs": len(snapshot), "seconds": time.perf_counter() - wall}
        row |= {"core s": time.process_time() - core, "value": found.value, "bound": found.bound}
        if len(self.rows) in self.sample:
            self.kept.append((snapshot, found))
        self.rows.append(row)
        return found


def simulate(
    objective: str,
    rounds: int,
    sample: int,
    *,
    jobs: int = JOBS,
    types: int = TYPES,
    between: float | None = None,
) -> tuple[Watched, Run]:
    """Run our warm policy for some rounds; every round decides."""
    trace, cluster = drawn(rounds, jobs, types, between=between)
    chosen = np.linspace(min(1, rounds - 1), rounds - 1, sample).round().astype(int).tolist()
    policy = solved(objective, OBJECTIVES[objective], engine="auto", warm=True, tolerance=TOLERANCE)
    watched = Watched(policy, frozenset(chosen))
    done = run(
        trace,
        cluster,
        watched,
        between_decisions=0.0,
        whole_steps=False,
        on_progress=lambda step: len(watched.rows) >= rounds,
    )
    return watched, done


def rows(
    objective: str,
    rounds: int = ROUNDS,
    sample: int = 3,
    exact: int = 1,
    *,
    jobs: int = JOBS,
    types: int = TYPES,
) -> list[dict[str, object]]:
    """One row a method: rounds, quality, gap and seconds a round."""
    watched, done = simulate(objective, rounds, sample, jobs=jobs, types=types)
    ours = pd.DataFrame(watched.rows[:rounds][1:] or watched.rows)
    ours["quality"] = _quality(objective, ours["value"], ours["bound"], ours["jobs"])
    found: list[dict[str, object]] = [_row(objective, "ours, warm", ours)]
    found[0] |= {"fewest jobs": int(done.active.min()), "most jobs": int(done.active.max())}
    for name, engine in BASELINES.items():
        judged = watched.kept[: exact if name == "exact" else sample]
        table = [_alone(objective, snapshot, best, engine) for snapshot, best in judged]
        if table:
            found.append(_row(objective, name, pd.DataFrame(table)))
    table = [_greedy(objective, snapshot, best) for snapshot, best in watched.kept]
    found.append(_row(objective, "greedy, as Gandiva", pd.DataFrame(table)))
    return found


def _alone(
    objective: str, snapshot: JobsSnapshot, best: Shares, engine: str | Engine
) -> dict[str, float]:
    """What an engine makes of a round, without a start."""
    wall, core = time.perf_counter(), time.process_time()
    found = solve(
        OBJECTIVES[objective](snapshot),
        engine=engine,
        tolerance=TOLERANCE,
        time_limit=LIMIT,
        threads=THREADS,
    )
    return {
        "seconds": time.perf_counter() - wall,
        "core s": time.process_time() - core,
        "ideal s": found.timings.ideal,
    } | _judged(objective, found.value, min(best.bound, found.bound), len(snapshot))


def _greedy(objective: str, snapshot: JobsSnapshot, best: Shares) -> dict[str, float]:
    """Job after job to the type where it runs fastest beside those already there."""
    wall, core = time.perf_counter(), time.process_time()
    x = cs.greedy(speeds(snapshot), snapshot.size, snapshot.workers)
    taken = {"seconds": time.perf_counter() - wall, "core s": time.process_time() - core}
    if objective == "max-min":
        value = float((_by_share(snapshot) * x).sum(axis=0).min())
    else:
        value = float(np.log((speeds(snapshot) * x).sum(axis=0)).sum())
    return taken | _judged(objective, value, best.bound, len(snapshot))


def _judged(objective: str, value: float, bound: float, jobs: int) -> dict[str, float]:
    quality = np.asarray(_quality(objective, np.array(value), np.array(bound), np.array(jobs)))
    return {"quality": quality.item(), "value": value, "bound": bound, "jobs": jobs}


def _quality(objective: str, value: Numbers, bound: Numbers, jobs: Numbers) -> Numbers:
    return value / bound if objective == "max-min" else np.exp((value - bound) / jobs)


def _row(objective: str, name: str, table: pd.DataFrame) -> dict[str, object]:
    unit = table["value"].abs() if objective == "max-min" else table["jobs"]
    ideal = float(table["ideal s"].mean()) if "ideal s" in table else float("nan")
    return {
        "objective": objective,
        "method": name,
        "rounds": len(table),
        "quality": float(table["quality"].mean()),
        "worst quality": float(table["quality"].min()),
        "gap": float(((table["bound"] - table["value"]) / unit).mean()),
        "seconds": float(table["seconds"].mean()),
        "most seconds": float(table["seconds"].max()),
        "core s": float(table["core s"].mean()),
        "ideal s": ideal,
    }


def day(rounds: int = DAY, objective: str = "max-min") -> dict[str, object]:
    """A day of 100,000 jobs on 1,000 types, or some rounds of it and what the whole would take.

    Jobs come every 0.864 s and 4,000 are there at a time, so each stays for an hour. The first
    round, which compiles and starts cold, is left out.
    """
    watched, done = simulate(objective, rounds, 0, jobs=4_000, types=1_000, between=0.864)
    table = pd.DataFrame(watched.rows[1:rounds])
    own = float(done.overhead_seconds[1:].mean())
    return {
        "objective": objective,
        "rounds": len(table),
        "jobs there": float(table["jobs"].mean()),
        "gap": float(((table["bound"] - table["value"]) / table["value"].abs()).mean()),
        "policy s": float(table["seconds"].mean()),
        "policy core s": float(table["core s"].mean()),
        "simulator s": own,
        "day of 240 rounds, minutes": 4.0 * (float(table["seconds"].mean()) + own),
        "of cores, minutes": 4.0 * (float(table["core s"].mean()) + own),
    }

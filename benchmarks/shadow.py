"""Coverage and speed of shadow mode: ``python -m benchmarks.shadow coverage --seeds 400``.

Each log of ``coverage`` has the same past, so that one policy is judged on days that differ. The
truth of a difference is its mean over the logs where the placements run with true times.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.tables import Tables
from walras.policies.placements import Policy
from walras.shadow import MEASURES, compare, read_jobs, synthetic_log
from walras.shadow.comparison import Study
from walras.shadow.measures import Days, means
from walras.shadow.support import capacity, split
from walras.types import Floats

TABLES = Tables("shadow")
BAR_SECONDS, BAR_COVERAGE, ALLOWED = 60.0, 0.9, 0.03


@dataclass(frozen=True)
class Setting:
    """What a log of the coverage study is like.

    Attributes:
        days: Days, the first half of which is the past.
        jobs_a_day: Jobs a day.
        slots: Slots of each of three clusters.
        past_seed: Seed of the past.
        resamples: Draws of days for the intervals.
    """

    days: int = 40
    jobs_a_day: int = 40
    slots: int = 3
    past_seed: int = 5000
    resamples: int = 300


@dataclass(frozen=True, eq=False)
class Case:
    """One log: the interval of each difference, and the difference with true times."""

    low: Floats
    high: Floats
    found: Floats
    true: Floats


def case(seed: int, setting: Setting) -> Case:
    """Compare a log, and replay it with true times.

    Args:
        seed: Seed of the replayed days.
        setting: What the log is like.
    """
    made = synthetic_log(
        setting.days,
        setting.jobs_a_day,
        slots=setting.slots,
        seed=seed,
        past_days=setting.days // 2,
        past_seed=setting.past_seed,
    )
    log = read_jobs(made.frame)
    found = compare(log, slots=made.slots, resamples=setting.resamples, seed=seed)
    cut = split(log, 0.5)
    room, price = capacity(log, made.slots), np.ones(len(log.clusters))
    study = Study(log, cut, room, price, Policy(), found.round_seconds, seed)
    study.prepare(only_seen=False)
    seconds, good = made.seconds[cut.replayed], made.good[cut.replayed]
    placed = study.run(seconds)
    at, where = np.arange(len(seconds)), placed.cluster
    which = cut.replayed
    days = Days(cut.day, log.submit[which], log.slots[which], cut.days)
    failed = (~good[at, where]).astype(np.float64)
    sums, jobs = days.sums(placed.start, seconds[at, where], failed, price[where])
    return Case(found.low, found.high, found.difference, means(sums, jobs) - found.log)


def coverage(seeds: Sequence[int], setting: Setting, workers: int = 1) -> pd.DataFrame:
    """How often the intervals hold the true differences.

    Args:
        seeds: Seeds of the logs.
        setting: What they are like.
        workers: Processes.

    Returns:
        One row a measure: ``logs``, ``truth``, ``found`` (mean), ``spread``, ``coverage``.
    """
    work = partial(case, setting=setting)
    if workers < 2:
        cases = [work(seed) for seed in seeds]
    else:
        with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
            cases = list(pool.map(work, seeds))
    names = ("low", "high", "found", "true")
    low, high, found, true = (np.array([getattr(one, name) for one in cases]) for name in names)
    truth = true.mean(axis=0)
    return pd.DataFrame(
        {
            "measure": MEASURES,
            "logs": len(cases),
            "truth": truth,
            "found": found.mean(axis=0),
            "spread": found.std(axis=0, ddof=1),
            "coverage": ((low <= truth) & (truth <= high)).mean(axis=0),
        }
    )


def speed(jobs: int = 100_000) -> pd.DataFrame:
    """Seconds of the comparison of a log of so many jobs, read from a CSV file.

    Args:
        jobs: Jobs in 30 days.

    Returns:
        One row: ``jobs``, ``rounds``, ``seconds`` of the wall, ``cpu_seconds``.
    """
    made = synthetic_log(30, round(jobs / 30), slots=max(4, jobs // 1100), seed=1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "jobs.csv"
        made.frame.to_csv(path, index=False)
        began, cpu = time.perf_counter(), time.process_time()
        found = compare(read_jobs(path), slots=made.slots)
        seconds, used = time.perf_counter() - began, time.process_time() - cpu
    rows = {"jobs": len(made.frame), "rounds": found.rounds}
    return pd.DataFrame([rows | {"seconds": seconds, "cpu_seconds": used}])


def main(arguments: list[str] | None = None, tables: Tables = TABLES) -> int:
    """Measure the studies that are named, or both; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.shadow", description=__doc__)
    parser.add_argument("studies", nargs="*", metavar="STUDY", help="coverage, speed")
    parser.add_argument("--seeds", type=int, default=400, help="logs of coverage")
    parser.add_argument("--jobs", type=int, default=100_000, help="of the log of speed")
    parser.add_argument("--workers", type=int, default=2, help="processes of coverage")
    parser.add_argument("--keep", action="store_true", help="write the tables to results/")
    given = parser.parse_args(arguments)
    for name in given.studies or ("coverage", "speed"):
        if name == "coverage":
            frame = coverage(range(1000, 1000 + given.seeds), Setting(), given.workers)
        elif name == "speed":
            frame = speed(given.jobs)
        else:
            parser.error(f"there is no study {name!r}; choose from coverage, speed")
        print(frame.to_string(index=False), flush=True)
        if given.keep:
            tables.write(name, frame, digits=6)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Shockwave's published baselines on its trace of 120 jobs and 32 V100, beside ours.

Rounds last 120 s and allocations at least 1,000 s, as in the published simulations. ``Gavel`` is
max-min fairness, ``OSSP`` the least makespan (their code: minimum total duration), ``Themis``
finish-time fairness, ``MST`` the largest sum of throughputs. ``AlloX`` and ``Gandiva-Fair`` are as
their code has them: AlloX takes a job of several workers for one of one worker, which then has one
part in so many of the time; Gandiva-Fair gives every job the same share. What deviates, and why:

- Jobs of the modes ``accordion`` and ``gns`` change their batch size as they go, which the trace
  does not show: 19,755 s of all workers are busy there (makespan times utilisation, the same for
  every policy) for 22,230 s of work in the trace.
- A job that did not run in the round before loses 20 of its 120 s there. So policies whose jobs
  take turns (Gavel, Themis, Gandiva-Fair) end later. ``work = as run`` has starts that cost 20 s,
  and all jobs shorter by the same factor; ``as written`` has neither.
- Steps a second fall as batch sizes rise, so MST's order of jobs changes as they go, and its place
  beside AlloX and Themis with it.
- A round ends there with the last of its jobs.

Their simulator and their cluster differ by up to 13 %. Source: Zheng et al., NSDI 2023, and its
repository.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from benchmarks.simulate.published import folder_of, published
from walras import policies
from walras.policies.allox import match
from walras.rounds import JobsSnapshot, Shares
from walras.simulate import Cluster, Run, Trace, load_trace, run
from walras.simulate.time_shared import Policy

FOLDER, TABLE = "shockwave", "published_tacc32_simulation.csv"
CLUSTER = {"v100": 32}
ROUND, BETWEEN, RESTART = 120.0, 1000.0, 20.0  # seconds


def equal_shares() -> Policy:
    """Gandiva-Fair as their code has it: the same share of the time for every job."""

    def decide(snapshot: JobsSnapshot) -> Shares:
        share = np.minimum(1.0, snapshot.workers / np.maximum(snapshot.size @ snapshot.fits, 1))
        time = share[None, :] * snapshot.fits
        time = time / np.maximum(time.sum(axis=1, keepdims=True), 1.0)
        return snapshot.shares(time, policy="equal shares")

    return decide


def allox_adapted() -> Policy:
    """AlloX as their code has it for jobs of several workers, on one type.

    They are matched as if they took one worker, and have one part in ``size`` of the time from then
    on; only jobs that have all their time count as running.
    """

    def decide(snapshot: JobsSnapshot) -> Shares:
        granted = _granted(snapshot)
        waiting = np.flatnonzero(granted < 1.0)
        free = snapshot.workers - (len(granted) - len(waiting))
        if len(waiting) and free.any():
            for j, _ in match(snapshot, waiting, free)[0]:
                granted[j] = 1.0 / snapshot.size[j]
        fit = min(1.0, snapshot.workers[0] / max(float(snapshot.size @ granted), 1.0))
        time = (granted * fit)[:, None]
        return snapshot.shares(time, policy="AlloX adapted", notes={"granted": granted})

    return decide


def _granted(snapshot: JobsSnapshot) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """(N,) what each job was granted so far, before all of it was made to fit."""
    last = snapshot.last
    if last is None or "granted" not in last.notes:
        return np.zeros(len(snapshot))
    kept, place = last.notes["granted"], last.place_of
    return np.array([kept[place[name]] if name in place else 0.0 for name in snapshot.name])


POLICIES: Mapping[str, Callable[[], Policy]] = {
    "max_min_fairness": policies.las,
    "finish_time_fairness": policies.finish_time_fairness,
    "allox": allox_adapted,
    "gandiva_fair": equal_shares,
    "max_sum_throughput_perf": policies.total_throughput,
    "min_total_duration": policies.makespan,
}
"""Their name of a policy -> ours."""


def simulate(trace: Trace, name: str, lost: float) -> Run:
    """Our run of a policy, where a start costs some seconds."""
    return run(
        trace,
        Cluster(CLUSTER),
        POLICIES[name](),
        round_seconds=ROUND,
        between_decisions=BETWEEN,
        restart_seconds=lost,
    )


def rows() -> pd.DataFrame:
    """One row a policy and kind of work: published, ours, deviations, and places in the order."""
    table = published(TABLE, FOLDER).set_index("policy_in_code")
    trace = load_trace(folder_of(TABLE, FOLDER) / "120_jobs.trace.gz", "shockwave")
    speed = trace.speed[:, trace.types.index("v100")]
    written = float((trace.size * trace.steps / speed).sum()) / CLUSTER["v100"]
    busy = float((table["makespan_s"] * table["utilisation"]).mean())
    shorter = replace(trace, steps=np.ceil(trace.steps * busy / written))
    found = []
    for work, jobs, lost in (("as written", trace, 0.0), ("as run", shorter, RESTART)):
        part = [_row(name, table, simulate(jobs, name, lost)) for name in POLICIES]
        frame = pd.DataFrame(part).assign(work=work)
        for shown, ours in (("makespan", "makespan s"), ("mean completion", "completion s")):
            for column in (f"published {ours}", ours):
                place = frame[column].rank().astype(int).astype(str)
                frame[f"place {shown}"] = (
                    place if "published" in column else frame[f"place {shown}"] + " / " + place
                )
        found.append(frame)
    return pd.concat(found, ignore_index=True)


def _row(name: str, table: pd.DataFrame, done: Run) -> dict[str, object]:
    shown = table.to_dict("index")[name]
    theirs = {"makespan s": shown["makespan_s"], "completion s": shown["avg_jct_s"]}
    ours = {"makespan s": done.makespan, "completion s": float(done.completion.mean())}
    row: dict[str, object] = {"policy": shown["paper_name"], "refused": int(done.refused.sum())}
    for what in theirs:
        row[f"published {what}"], row[what] = float(theirs[what]), ours[what]
        row[f"{what[:-2]} off %"] = 100.0 * (ours[what] / float(theirs[what]) - 1.0)
    return row

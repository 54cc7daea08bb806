"""Shockwave's published baselines on its trace of 120 jobs and 32 V100, beside ours.

Rounds last 120 s and allocations at least 1,000 s, as in the published simulations. ``Gavel`` is
max-min fairness, ``OSSP`` the least makespan (their code: minimum total duration), ``Themis``
finish-time fairness, ``MST`` the largest sum of throughputs. ``AlloX`` and ``Gandiva-Fair`` are as
their code has them: AlloX matches the oldest fifth of the waiting jobs alone, takes a job of
several workers for one of one worker, and gives it one part in so many of the time; Gandiva-Fair
gives every job the same share; OSSP searches its makespan to 5 % and takes any shares that do.
``as written`` runs the jobs of the trace at their first speed. ``adapted`` has what their simulator
does besides:

- 68 of the 120 jobs change their batch size as they go, and their speed with it. That makes
  19,758 s of work for all workers of the 22,230 s in the trace; their makespan times utilisation
  is 19,743 to 19,769 s. On one type of worker a job is then its seconds, round by round.
- Policies know the speed of the present batch size, and count the steps left as if it stayed. So
  MST's order of jobs changes as they go, and a job that will speed up looks long.
- A job that did not run in the round before loses 20 of its 120 s there. So policies whose jobs
  take turns (Gavel, Themis, Gandiva-Fair) end later.

There Gandiva-Fair and Themis, 1.4 % apart by makespan, change places. ``in their rounds`` runs the
same policies in rounds as their simulator has them (:mod:`benchmarks.simulate.shockwave_rounds`).
Then both published orders come out; Gandiva-Fair and Gavel have the published makespan and mean
completion time to the second, AlloX the makespan. ``in full rounds`` differs from these by one
thing: as many steps as fit in a round take all of it. Then jobs that ran equally often have equal
priorities, others run first, and the two policies change places again.

Which of the shares that do Themis, MST and OSSP get is their solvers' choice; ours of OSSP spreads
evenly what is left over. Their simulator and their cluster differ by up to 13 %. Source: Zheng et
al., NSDI 2023, and its repository.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import combinations

import numpy as np
import pandas as pd

from benchmarks.simulate.adaptation import adapted, believing, in_seconds, modes, speeds_of
from benchmarks.simulate.published import folder_of, published
from benchmarks.simulate.shockwave_rounds import Played, play
from walras import policies
from walras.policies.allox import match
from walras.rounds import JobsSnapshot, Shares
from walras.simulate import Cluster, Run, Trace, load_trace, run
from walras.simulate.time_shared import Policy

FOLDER, TABLE = "shockwave", "published_tacc32_simulation.csv"
CLUSTER = {"v100": 32}
ROUND, BETWEEN, RESTART = 120.0, 1000.0, 20.0  # seconds
OLDEST = 0.2  # of the waiting jobs, by arrival, that AlloX matches


def equal_shares(*, fitted: bool = True) -> Policy:
    """Gandiva-Fair as their code has it: the same share of the time for every job.

    Args:
        fitted: Whether the workers can hold the shares; in their code, each is a worker's.
    """

    def decide(snapshot: JobsSnapshot) -> Shares:
        wanted = (snapshot.size if fitted else np.ones(len(snapshot))) @ snapshot.fits
        share = np.minimum(1.0, snapshot.workers / np.maximum(wanted, 1))
        time = share[None, :] * snapshot.fits
        time = time / np.maximum(time.sum(axis=1, keepdims=True), 1.0)
        return snapshot.shares(time, policy="equal shares")

    return decide


def loose_makespan() -> Policy:
    """OSSP as their code has it: a makespan found by bisection to 5 %, and shares that reach it.

    Their solver returns any such shares; here what is left over is spread evenly.
    """

    def decide(snapshot: JobsSnapshot) -> Shares:
        seconds, size = snapshot.left / snapshot.speed[:, 0], snapshot.size
        workers = float(snapshot.workers[0])
        least = max(float(seconds.max()), float(seconds @ size) / workers)
        low, high = 100.0, 1e6
        while 1.05 * low < high:
            middle = (low + high) / 2.0
            low, high = (low, middle) if middle >= least else (middle, high)
        share = np.minimum(1.0, seconds / high)
        low, high = 0.0, 1.0  # of what every job has besides
        for _ in range(50):
            middle = (low + high) / 2.0
            fits = np.minimum(1.0, share + middle) @ size <= workers
            low, high = (middle, high) if fits else (low, middle)
        return snapshot.shares(np.minimum(1.0, share + low)[:, None], policy="makespan to 5 %")

    return decide


def allox_adapted() -> Policy:
    """AlloX as their code has it for jobs of several workers, on one type.

    They are matched as if they took one worker, and have one part in ``size`` of the time from then
    on; only jobs that have all their time count as running. The first fifth of the waiting jobs by
    arrival is matched, or as many as there are free workers.
    """

    def decide(snapshot: JobsSnapshot) -> Shares:
        granted = _granted(snapshot)
        waiting = np.flatnonzero(granted < 1.0)
        free = snapshot.workers - (len(granted) - len(waiting))
        first = waiting[: max(int(OLDEST * len(waiting)), int(free[0]))]
        if len(first) and free.any():
            for j, _ in match(snapshot, first, free)[0]:
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
    "min_total_duration": loose_makespan,
}
"""Their name of a policy -> ours."""


def simulate(trace: Trace, policy: Policy, lost: float) -> Run:
    """Our run of a policy, where a start costs some seconds."""
    return run(
        trace,
        Cluster(CLUSTER),
        policy,
        round_seconds=ROUND,
        between_decisions=BETWEEN,
        restart_seconds=lost,
    )


def rows() -> pd.DataFrame:
    """One row a policy and kind of work: published, ours, deviations, and places in the order."""
    table = published(TABLE, FOLDER).set_index("policy_in_code")
    folder = folder_of(TABLE, FOLDER)
    path = folder / "120_jobs.trace.gz"
    trace, mode = load_trace(path, "shockwave"), modes(path)
    speeds = speeds_of(folder / "tacc_throughputs.json.gz", "v100")
    jobs = adapted(trace, mode, speeds, ROUND)
    turned = in_seconds(trace, jobs)

    def played(name: str, *, full: bool) -> Played:
        made = equal_shares(fitted=False) if name == "gandiva_fair" else POLICIES[name]()
        return play(trace, mode, speeds, CLUSTER["v100"], made, full=full)

    works: Mapping[str, Callable[[str], Run | Played]] = {
        "as written": lambda name: simulate(trace, POLICIES[name](), 0.0),
        "adapted": lambda name: simulate(turned, believing(POLICIES[name](), trace, jobs), RESTART),
        "in full rounds": lambda name: played(name, full=True),
        "in their rounds": lambda name: played(name, full=False),
    }
    return pd.concat([_work(table, work, done) for work, done in works.items()], ignore_index=True)


def _work(table: pd.DataFrame, work: str, done: Callable[[str], Run | Played]) -> pd.DataFrame:
    """The rows of a kind of work."""
    frame = pd.DataFrame([_row(name, table, done(name)) for name in POLICIES]).assign(work=work)
    for shown, ours in (("makespan", "makespan s"), ("mean completion", "completion s")):
        theirs, own = (
            frame[column].rank().astype(int).astype(str) for column in (f"published {ours}", ours)
        )
        frame[f"place {shown}"] = theirs + " / " + own
    return frame


_REASON = """\
Rounds as their simulator has them: each ends with the last of its jobs, and time had is that of
whole steps. Full rounds make priorities equal that are not equal there; others run first."""


def verdict(frame: pd.DataFrame) -> str:
    """Which published orders are reproduced, and which policies change places."""
    lines = []
    for work, part in frame.groupby("work", sort=False):
        for shown, ours in (("makespan", "makespan s"), ("mean completion", "completion s")):
            rows = part.sort_values(f"published {ours}")
            listed = zip(rows["policy"], rows[f"published {ours}"], rows[ours], strict=True)
            swapped = [
                f"{a[0]} / {b[0]} (published {100.0 * (b[1] / a[1] - 1.0):.1f} % apart, "
                f"ours {100.0 * (b[2] / a[2] - 1.0):.1f} %)"
                for a, b in combinations(listed, 2)
                if b[2] < a[2]
            ]
            said = f"not reproduced: {', '.join(swapped)}" if swapped else "reproduced"
            lines.append(f"Order by {shown}, jobs {work}: {said}")
    return "\n".join([*lines, _REASON])


def _row(name: str, table: pd.DataFrame, done: Run | Played) -> dict[str, object]:
    shown = table.to_dict("index")[name]
    theirs = {"makespan s": shown["makespan_s"], "completion s": shown["avg_jct_s"]}
    ours = {"makespan s": done.makespan, "completion s": float(done.completion.mean())}
    refused = int(done.refused.sum()) if isinstance(done, Run) else 0  # their rounds check nothing
    row: dict[str, object] = {"policy": shown["paper_name"], "refused": refused}
    for what in theirs:
        row[f"published {what}"], row[what] = float(theirs[what]), ours[what]
        row[f"{what[:-2]} off %"] = 100.0 * (ours[what] / float(theirs[what]) - 1.0)
    return row

"""How fast the simulator is: job events a minute without a solver, and its share of a round.

An event is an arrival, an end, or a job's part of a round. The share of a round is the simulator's
own time on the processor by that of the policy and its own, where a round is decided for 2,000
jobs; what other processes take does not count. Tasks on clusters with slots are counted by the
minute of CPU time, their policy included.
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from walras import policies
from walras.rounds import JobsSnapshot, Shares
from walras.simulate import Cluster, Slots, draw_tasks, gavel_trace, run


def even(snapshot: JobsSnapshot) -> Shares:
    """The same share of all workers for every job, without a solver."""
    most = snapshot.workers / np.maximum(snapshot.size @ snapshot.fits, 1)
    time_shares = np.minimum(1.0, most)[None, :] * snapshot.fits
    return snapshot.shares(
        time_shares / np.maximum(time_shares.sum(axis=1, keepdims=True), 1.0), policy="even"
    )


def events(jobs: int = 5000, rate: float = 4.0) -> dict[str, object]:
    """Events a minute of a policy without a solver on Gavel's stream."""
    trace = gavel_trace(rate, jobs)
    cluster = Cluster({"v100": 36, "p100": 36, "k80": 36})
    run(gavel_trace(rate, 10), cluster, even)  # compiles
    began = time.perf_counter()
    done = run(trace, cluster, even)
    seconds = time.perf_counter() - began
    count = 2 * jobs + int(done.running.sum())
    return {
        "what": "job events a minute, even shares",
        "events": count,
        "seconds": seconds,
        "value": count / seconds * 60,
    }


def placed(tasks: int = 5000) -> dict[str, object]:
    """Tasks a minute on clusters with slots, placed by first fit in rounds of half a minute.

    The tasks are drawn (synthetic), at four fifths of what the slots can do.
    """
    drawn = draw_tasks(tasks, rate=600.0, apart=0.0, clusters=("east", "west"))
    slots = Slots({"east": 32, "west": 32})
    run(draw_tasks(50), Slots({"east": 2, "west": 2}), policies.first_fit())  # loads and compiles
    began = time.process_time()
    done = run(drawn, slots, policies.first_fit(), round_seconds=30.0)
    seconds = time.process_time() - began
    return {
        "what": f"tasks a CPU minute on slots, first fit, {len(done.round_at)} rounds",
        "events": tasks,
        "seconds": seconds,
        "value": tasks / seconds * 60,
    }


def overhead(jobs: int = 2000, rounds: int = 400) -> dict[str, object]:
    """The simulator's share of rounds that are each decided for 2,000 jobs by least service."""
    drawn = gavel_trace(1.0, jobs + rounds, multiple=True)
    arrival = np.concatenate([np.zeros(jobs), 360.0 * np.arange(1, rounds + 1)])
    trace = replace(drawn, steps=drawn.steps * 50, arrival=arrival)
    cluster = Cluster({"v100": 360, "p100": 360, "k80": 360})
    least_service, inside = policies.las(by_speed=True), [0.0]
    began, wall = time.process_time(), time.perf_counter()

    def policy(snapshot: JobsSnapshot) -> Shares:
        asked = time.process_time()
        found = least_service(snapshot)
        inside[0] += time.process_time() - asked
        return found

    def stop(step: object) -> bool:
        del step
        return time.perf_counter() - wall > 20.0

    done = run(trace, cluster, policy, between_decisions=0.0, on_progress=stop)
    seconds = time.process_time() - began
    return {
        "what": "simulator's share of a round at 2,000 jobs",
        "events": int(done.decisions.sum()),
        "seconds": seconds,
        "value": (seconds - inside[0]) / seconds,
    }

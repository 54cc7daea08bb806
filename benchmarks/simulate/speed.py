"""How fast the simulator is: job events a minute without a solver, and its share of a round.

An event is an arrival, an end, or a job's part of a round. The share of a round is the simulator's
own time on the processor by that of the policy and its own, where each round is decided for 2,000
jobs or a few more; what other processes take does not count. It depends on the policy: least
service decides by classes of alike jobs, in some milliseconds; proportional fairness solves for
each job. Tasks on clusters with slots are counted by the minute of CPU time, their policy included.
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from walras import policies
from walras.rounds import JobsSnapshot, Shares
from walras.simulate import Cluster, Slots, draw_tasks, gavel_trace, run

DECIDES = {
    "least service": policies.las(by_speed=True),
    "proportional fairness": policies.proportional_fairness(),
}


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


def overhead(name: str, jobs: int = 2000, rounds: int = 400) -> dict[str, object]:
    """The simulator's share of rounds that a policy decides one by one for 2,000 jobs.

    In each round a job comes. The last one is short, and the run ends with it.
    """
    drawn = gavel_trace(1.0, jobs + rounds, multiple=True)
    arrival = np.concatenate([np.zeros(jobs), 360.0 * np.arange(1, rounds + 1)])
    steps = np.append(drawn.steps[:-1] * 50, 1.0)
    trace = replace(drawn, steps=steps, arrival=arrival)
    cluster = Cluster({"v100": 360, "p100": 360, "k80": 360})
    decides, inside = DECIDES[name], [0.0]
    run(gavel_trace(4.0, 10), cluster, decides)  # loads and compiles

    def policy(snapshot: JobsSnapshot) -> Shares:
        asked = time.process_time()
        found = decides(snapshot)
        inside[0] += time.process_time() - asked
        return found

    began = time.process_time()
    done = run(
        trace, cluster, policy, between_decisions=0.0, measured=slice(len(trace) - 1, len(trace))
    )
    seconds, count = time.process_time() - began, int(done.decisions.sum())
    own = (seconds - inside[0]) / count
    return {
        "what": f"simulator's share of a round at {jobs:,} jobs, {name}",
        "events": count,
        "seconds": seconds,
        "value": (seconds - inside[0]) / seconds,
        "own ms": own * 1e3,
        "round ms": seconds / count * 1e3,
    }

"""Who waits at high loads: mean completion times by size where jobs stop coming, and where not.

Every job has an equal part of the cluster (``isolated``), which is least attained service without
speeds wherever there are as many jobs as workers. One of s workers has 1 / s of the share of one of
one worker. In each round types go to jobs by share granted over share had; so in the few rounds
between two decisions all jobs of one worker have several turns before one of eight has its first.
Above the load that such a policy can carry, jobs of eight wait as long as others come. Where jobs
stop coming 300 h after the last measured one, those jobs end much sooner, and the mean with them.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.simulate import gavel
from benchmarks.simulate.load import load
from benchmarks.simulate.published import CLUSTER
from walras.simulate import Cluster, Run, gavel_trace, run

CELLS = (("single", 5.6, 95.99), ("multiple", 2.4, 38.71), ("multiple", 2.6, 70.54))
"""Trace, jobs an hour, and the published hours of ``max_min_fairness``."""


def rows() -> Iterator[dict[str, object]]:
    """Two rows a cell: jobs that stop coming, and jobs that come until the measured ones end."""
    for shape, rate, published in CELLS:

        def attempt(jobs: int, shape: str = shape, rate: float = rate) -> Run:
            trace = gavel_trace(rate, jobs, multiple=shape == "multiple", synthetic=False)
            policy = gavel.POLICIES["isolated"]()
            return run(trace, Cluster(CLUSTER), policy, measured=gavel.MEASURED)

        cut = attempt(gavel.jobs(rate, gavel.TAIL_HOURS))
        for coming, done in (("300 h", cut), ("to the end", gavel.while_jobs_come(rate, attempt))):
            hours, size = done.completion.to_numpy() / 3600, done.size[gavel.MEASURED]
            yield {
                "trace": shape,
                "rate": rate,
                "load %": 100.0 * load(shape, aware=False) * rate,
                "jobs come": coming,
                "published": published,
                "ours": float(hours.mean()),
                **{
                    f"of {s} workers": float(hours[size == s].mean())
                    if (size == s).any()
                    else np.nan
                    for s in (1, 2, 4, 8)
                },
                "most jobs": int(done.active.max()),
            }

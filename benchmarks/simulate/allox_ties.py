"""AlloX with another choice among equal matchings, to explain the published cells.

Many matchings are equally good: workers of a type are alike, and of the jobs that would be the last
of their queues those whose queue is empty begin at once, whichever they are. Here the waiting jobs
are listed in a random order before each matching, so that chance chooses among them.
"""

from __future__ import annotations

import numpy as np

from walras.policies.allox import match
from walras.rounds import JobsSnapshot, Shares
from walras.simulate.time_shared import Policy


def allox_drawn(seed: int = 0) -> Policy:
    """The policy; a seed is a choice."""
    draws = np.random.default_rng(seed)

    def decide(snapshot: JobsSnapshot) -> Shares:
        time = np.where(snapshot.held == 1.0, 1.0, 0.0)
        free = snapshot.workers - time.sum(axis=0).astype(np.int64)
        waiting = np.flatnonzero(time.sum(axis=1) == 0.0)
        if len(waiting) and free.any():
            for j, t in match(snapshot, draws.permutation(waiting), free)[0]:
                time[j, t] = 1.0
        return snapshot.shares(time, policy="allox, ties drawn")

    return decide

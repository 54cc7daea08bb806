"""A new decision is taken over, compiled: what was owed under the last one, and what is granted."""

from __future__ import annotations

from walras.simulate.time_shared.filling import jit
from walras.simulate.time_shared.state import State
from walras.types import Floats, Longs


@jit
def take_over(
    here: Longs, since: float, jobs: Longs, up: Longs, granted: Floats, state: State
) -> None:
    """Settle what jobs are owed under the last shares, and begin to count under the new ones.

    Args:
        here: The jobs that are there.
        since: Seconds since the last decision.
        jobs: (K,) those that were decided for.
        up: (U,) the types that were decided for.
        granted: (K, U) their shares of time.
        state: The state of the jobs; shares, seconds had and owed are changed.
    """
    share, had, owed = state.share, state.had, state.owed
    for j in here:
        for t in range(share.shape[1]):
            owed[j, t] += share[j, t] * since - had[j, t]
            share[j, t] = had[j, t] = 0.0
    for k, j in enumerate(jobs):
        for u, t in enumerate(up):
            share[j, t] = granted[k, u]

"""Who got what under each decision: shares granted and seconds received, job by job."""

from __future__ import annotations

import numpy as np

from walras.simulate.time_shared import World
from walras.simulate.time_shared.state import NOW
from walras.types import Floats, Longs

COLUMNS = ("decision", "at", "until", "job", "type", "share", "seconds")
"""Columns of the rows: number of the decision, when it began and ended to hold (seconds), place of
the job and of the type, share of time granted, seconds received."""


class Ledger:
    """Books what jobs receive between one decision and the next.

    Args:
        kept: Whether rows are kept; if not, there is only the index of each decision.
    """

    def __init__(self, *, kept: bool) -> None:
        self._kept = kept
        self._rows: list[Floats] = []
        self._count = 0
        self._jobs: Longs | None = None  # of the decision in force; None before the first
        self._at = 0.0
        self._before: Floats = np.zeros((0, 0))

    def open(self, world: World) -> None:
        """Begin to book for the decision that was just made."""
        self._jobs = world.here.copy()
        self._at = float(world.state.clock[NOW])
        self._before = world.state.received.take(self._jobs, axis=0)

    def close(self, world: World) -> float | None:
        """Book what the decision in force came to.

        Returns:
            Jain's index of its jobs (:func:`jain`); None where no decision was in force.
        """
        if self._jobs is None:
            return None
        jobs, state, until = self._jobs, world.state, float(world.state.clock[NOW])
        seconds = state.received.take(jobs, axis=0) - self._before
        if self._kept:
            share = state.share[jobs]
            which, kind = np.nonzero((share > 0.0) | (seconds > 0.0))
            columns = np.broadcast_arrays(
                *(self._count, self._at, until, jobs[which], kind),
                *(share[which, kind], seconds[which, kind]),
            )
            self._rows.append(np.stack(columns, axis=1).astype(np.float64))
        self._count += 1
        self._jobs = None
        there = np.fmin(state.ended[jobs], until) - self._at  # fmin: NaN while it has no end
        fastest = world.fastest.take(jobs)
        speed = (
            world.jobs.speed.take(jobs, axis=0) / fastest[:, None]
        )  # near 1, so nothing overflows
        done = np.einsum("jt,jt->j", seconds, speed)
        full = there * world.trace.weight[jobs]
        return jain(done[there > 0.0] / full[there > 0.0])

    def rows(self) -> Floats:
        """(K, 7) the rows, with columns :data:`COLUMNS`."""
        return np.concatenate([np.zeros((0, len(COLUMNS))), *self._rows])


def jain(service: Floats) -> float:
    """Jain's index of fairness, (Σ u_j)² / (n Σ u_j²): 1 where all have the same, 1/n where one has
    all; NaN where nobody has anything. Source: Jain, Chiu and Hawe, 1984.

    Args:
        service: (n,) what each has, >= 0.

    Example:
        >>> import numpy as np
        >>> from walras.simulate.ledger import jain
        >>> jain(np.array([1.0, 1.0])), jain(np.array([1.0, 0.0]))
        (1.0, 0.5)
    """
    most = float(service.max(initial=0.0))
    if not most > 0.0:
        return float("nan")
    share = service / most
    return float(share.sum() ** 2 / (len(share) * (share**2).sum()))

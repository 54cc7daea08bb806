"""The centres' reports of a deployment, brought to common steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from walras.types import Bools, Floats, Longs

EPOCH, STEP, TIME, SHARE, HELD, SENT = range(6)  # of one report: see Process


@dataclass(frozen=True, eq=False)
class StepRecords:
    """Records of a deployment; row k is the state after ``steps[k]`` uninterrupted steps.

    Attributes:
        steps: (records,) increasing numbers of steps.
        seconds: (records,) seconds since the first tick, by the clocks of the centres' hosts.
        bytes: (records,) bytes that all centres sent so far.
        shares: (records, centres) quanta in use.
        held: (records, centres) quanta held, 0 for centres that do not run.
        alive: (records, centres) True on centres whose processes run.
    """

    steps: Longs
    seconds: Floats
    bytes: Longs
    shares: Longs
    held: Longs
    alive: Bools

    @classmethod
    def of(
        cls, reports: Sequence[Sequence[Sequence[float]]], alive: Bools, began: float
    ) -> StepRecords:
        """Bring reports to common steps.

        A centre that starts a new life counts its steps from 0 again. Its later reports are placed
        at the present step of the other centres.

        Args:
            reports: For every centre (epoch, step, time, share, held, bytes sent) in order.
            alive: (centres,) True on centres whose processes ran to the end.
            began: Time of the first tick.
        """
        rows = [np.array(own, np.float64).reshape(-1, 6) for own in reports]
        first = [own[own[:, EPOCH] == own[:1, EPOCH]] if len(own) else own for own in rows]
        steps, times = _common(first)
        seconds = np.maximum(times - began, 0.0)
        shape = (len(steps), len(rows))
        values = np.zeros((3, *shape), np.int64)
        running = np.zeros(shape, bool)
        for k, own in enumerate(rows):
            if len(own):
                at, running[:, k] = _placed(own, steps, times, ran_on=bool(alive[k]))
                values[:, :, k] = own[np.maximum(at, 0)][:, SHARE:].T * (at >= 0)
        shares, held, sent = values
        return cls(steps, seconds, sent.sum(axis=1), shares * running, held * running, running)


def _common(first: Sequence[Floats]) -> tuple[Longs, Floats]:
    """The reported steps, and the median time of each."""
    every = np.concatenate([*first, np.zeros((0, 6))])
    order = np.lexsort((every[:, TIME], every[:, STEP]))
    steps, begin, count = np.unique(every[order, STEP], return_index=True, return_counts=True)
    times = every[order, TIME][begin + (count - 1) // 2]
    return steps.astype(np.int64), np.maximum.accumulate(times)


def _placed(own: Floats, steps: Longs, times: Floats, *, ran_on: bool) -> tuple[Longs, Bools]:
    """For each common step, the row of a centre's reports (-1: none), and whether it ran."""
    later = own[:, EPOCH] != own[0, EPOCH]
    then = steps[np.minimum(np.searchsorted(times, own[:, TIME]), len(steps) - 1)]
    keys = np.maximum.accumulate(np.where(later, then, own[:, STEP]))
    at = np.searchsorted(keys, steps, side="right") - 1
    last = np.append(np.flatnonzero(np.diff(own[:, EPOCH])), len(own) - 1)  # row of each life
    ends = keys[last]
    life = np.searchsorted(last, np.maximum(at, 0))
    running = (at >= 0) & (steps <= ends[life])
    if ran_on:
        running |= (at >= 0) & (life == len(last) - 1)
    return at, running

"""The independent check of a time-shared decision: it shares no code with who made it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from walras.rounds.check import Violation
from walras.rounds.jobs import JobsSnapshot
from walras.rounds.shares import Shares

_ROUNDING = 1e-6  # of sums of shares, relative to 1 and to the workers of a type


def check_shares(snapshot: JobsSnapshot, shares: object) -> list[Violation]:
    """Everything that shares of time break; a round uses them only where nothing is.

    Args:
        snapshot: What was decided from.
        shares: What was decided: :class:`Shares`, or whatever a policy returned.

    Returns:
        The violations, by code: ``type`` (no decision at all), ``reference`` (other jobs or
        types), ``shape``, ``number`` (NaN or infinite), ``range`` (below 0 or above 1), ``time``
        (a job more than all the time), ``capacity`` (more workers than there are), ``speed`` (time
        where the job cannot run), ``notes``. None where the shares are good.

    Example:
        >>> from walras.rounds import JobsSnapshot, check_shares
        >>> snapshot = JobsSnapshot.of(["a", "b"], speed=[[1.0], [1.0]], workers=[1])
        >>> for violation in check_shares(snapshot, snapshot.shares([[1.0], [0.5]])):
        ...     print(violation)
        capacity: type 0: 1.5 workers are taken of 1
    """
    if not isinstance(shares, Shares):
        what = f"the policy returned {type(shares).__name__}, not Shares"
        return [Violation("type", "decision", what)]
    found = list(_form(snapshot, shares))
    return found or list(_shares(snapshot, shares))


def _form(snapshot: JobsSnapshot, shares: Shares) -> Iterator[Violation]:
    if shares.name != snapshot.name:
        other = sorted(set(shares.name) ^ set(snapshot.name))
        named = f"job {other[0]!r} is on one side alone" if other else "jobs in another order"
        yield Violation("reference", "jobs", f"{named}; {len(shares)} of {len(snapshot)}")
    if shares.types != snapshot.types:
        yield Violation("reference", "types", f"{shares.types} are not {snapshot.types}")
    if shares.time.shape != snapshot.speed.shape:
        what = f"has shape {shares.time.shape}, not {snapshot.speed.shape}"
        yield Violation("shape", "time", what)
    elif not np.isfinite(shares.time).all():
        j, t = np.argwhere(~np.isfinite(shares.time))[0]
        where = f"job {snapshot.name[j]!r} on {snapshot.types[t]}"
        yield Violation("number", where, f"is {shares.time[j, t]}")
    for name, note in shares.notes.items():
        if note.shape != (len(snapshot),):
            yield Violation("notes", name, f"has shape {note.shape}, not ({len(snapshot)},)")


def _shares(snapshot: JobsSnapshot, shares: Shares) -> Iterator[Violation]:
    time = shares.time
    outside = (time < -_ROUNDING) | (time > 1 + _ROUNDING)
    stuck = ~snapshot.fits & (time > _ROUNDING)
    for code, wrong, what in (
        ("range", outside, "of the time"),
        ("speed", stuck, "of the time where it cannot run"),
    ):
        for j, t in np.argwhere(wrong)[:1]:
            where = f"job {snapshot.name[j]!r} on {snapshot.types[t]}"
            yield Violation(code, where, f"gets {time[j, t]:.6g} {what}")
    total = time.sum(axis=1)
    for j in np.flatnonzero(total > 1 + _ROUNDING)[:1]:
        yield Violation("time", f"job {snapshot.name[j]!r}", f"gets {total[j]:.6g} of the time")
    taken = snapshot.size @ time
    for t in np.flatnonzero(taken > snapshot.workers * (1 + _ROUNDING)):
        what = f"{taken[t]:.6g} workers are taken of {snapshot.workers[t]}"
        yield Violation("capacity", snapshot.types[t], what)

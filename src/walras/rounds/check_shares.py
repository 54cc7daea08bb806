"""The independent check of a time-shared decision: it shares no code with who made it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from walras.rounds.fields import LARGEST
from walras.rounds.jobs import JobsSnapshot
from walras.rounds.shares import Shares
from walras.rounds.violation import Violation
from walras.types import Bools, Floats

_STUCK = "of the time where it cannot run"
_ROUNDING = 1e-6  # of sums of shares, relative to 1 and to the workers of a type


def check_shares(snapshot: JobsSnapshot, shares: Shares) -> list[Violation]:
    """Everything that shares of time break."""
    found = list(_form(snapshot, shares))
    return found or list(_shares(snapshot, shares))


def _form(snapshot: JobsSnapshot, shares: Shares) -> Iterator[Violation]:
    if shares.name is not snapshot.name and shares.name != snapshot.name:
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
    yield from _pairs_form(snapshot, shares)
    for name, note in shares.notes.items():
        if note.shape != (len(snapshot),):
            yield Violation("notes", name, f"has shape {note.shape}, not ({len(snapshot)},)")


def _pairs_form(snapshot: JobsSnapshot, shares: Shares) -> Iterator[Violation]:
    pair, time = shares.pair, shares.pair_time
    shapes = ((len(pair), 2), (len(pair), len(snapshot.types)))
    if (pair.shape, time.shape) != shapes:
        what = f"have shapes {pair.shape} and {time.shape}, not (P, 2) and (P, types)"
        yield Violation("shape", "pairs", what)
        return
    if not len(pair):
        return
    low, high = pair.min(axis=1, initial=LARGEST), pair.max(axis=1, initial=-1)
    wrong = ~((low >= 0) & (low < high) & (high < len(snapshot)))
    _, first = np.unique(low * len(snapshot) + high, return_index=True)
    twice = np.setdiff1d(np.arange(len(pair)), first)
    for k, what in ((np.flatnonzero(wrong), "names no two jobs"), (twice, "is there twice")):
        if len(k):
            yield Violation("reference", f"pair {k[0]}", f"{pair[k[0]].tolist()} {what}")
            return
    if not np.isfinite(time).all():
        k, t = np.argwhere(~np.isfinite(time))[0]
        yield Violation("number", f"pair {k} on {snapshot.types[t]}", f"is {time[k, t]}")


def _pairs_stuck(snapshot: JobsSnapshot, shares: Shares) -> Bools:
    """(P, T) types on which a pair has no room or no speed."""
    one, other = shares.pair.T
    group, size = snapshot.group, snapshot.size
    able = (group[one] >= 0) & (group[other] >= 0) & (size[one] == size[other])
    room = size[one][:, None] <= snapshot.workers
    run = np.zeros(room.shape, np.bool_)
    a, b = group[one[able]], group[other[able]]
    run[able] = (snapshot.paired[a, b] > 0.0) & (snapshot.paired[b, a] > 0.0)
    return np.asarray(~(run & room))


def _shares(snapshot: JobsSnapshot, shares: Shares) -> Iterator[Violation]:
    time, pair_time = shares.time, shares.pair_time
    pairs = _pairs_stuck(snapshot, shares) if len(pair_time) else pair_time > 0
    for code, alone, both, what in (
        ("range", _outside(time), _outside(pair_time), "of the time"),
        ("speed", ~snapshot.fits & (time > _ROUNDING), pairs & (pair_time > _ROUNDING), _STUCK),
    ):
        if alone.any():
            j, t = np.argwhere(alone)[0]
            where = f"job {snapshot.name[j]!r} on {snapshot.types[t]}"
            yield Violation(code, where, f"gets {time[j, t]:.6g} {what}")
        if both.any():
            k, t = np.argwhere(both)[0]
            one, other = (snapshot.name[j] for j in shares.pair[k])
            where = f"jobs {one!r} and {other!r} on {snapshot.types[t]}"
            yield Violation(code, where, f"get {pair_time[k, t]:.6g} {what}")
    total = time @ np.ones(time.shape[1])  # quicker than a sum of short rows
    for side in shares.pair.T:
        np.add.at(total, side, pair_time.sum(axis=1))
    for j in np.flatnonzero(total > 1 + _ROUNDING)[:1]:
        yield Violation("time", f"job {snapshot.name[j]!r}", f"gets {total[j]:.6g} of the time")
    taken = snapshot.size @ time + snapshot.size[shares.pair[:, 0]] @ pair_time
    for t in np.flatnonzero(taken > snapshot.workers * (1 + _ROUNDING)):
        what = f"{taken[t]:.6g} workers are taken of {snapshot.workers[t]}"
        yield Violation("capacity", snapshot.types[t], what)


def _outside(time: Floats) -> Bools:
    return np.asarray((time < -_ROUNDING) | (time > 1 + _ROUNDING))

"""A snapshot of jobs that share workers in time: all that a time-shared round decides from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from walras.errors import InputError
from walras.rounds.canonical import digest, pack
from walras.rounds.fields import LARGEST, WEIGHTS, count_of, split, take, take_texts
from walras.rounds.pairs import Pairs, pairs_of
from walras.rounds.shares import Shares
from walras.types import Bools, Floats, Longs

FORMAT = 3  # of a snapshot's bytes
_TINY = float(np.finfo(float).tiny)


@dataclass(frozen=True, eq=False)
class JobsSnapshot:
    """The jobs of a round in order of arrival, one entry each in every array of length N.

    Attributes:
        at: The time, seconds.
        round_seconds: How long a round lasts; 0 where shares are realised exactly.
        name: (N,) names, distinct.
        kind: (N,) the class of each job.
        size: (N,) workers that a job occupies while it runs.
        weight: (N,) priorities, 1e-100 to 1e100.
        arrival: (N,) seconds.
        steps: (N,) steps of each job in all, > 0.
        left: (N,) steps left, > 0.
        deadline: (N,) seconds by which it is to end; infinite for none.
        attempt: (N,) how often it has failed by itself.
        received: (N, T) seconds that each job has run on each type since it arrived.
        speed: (N, T) steps a second of a job that runs alone; 0 where it cannot run.
        types: (T,) names of the types of workers.
        workers: (T,) workers of each type.
        group: (N,) group of a job by its speed beside others; -1 where it shares with nobody.
        paired: (G, G, T) steps a second of a job of one group while it shares its workers with a
            job of another one; 0 where the two do not fit.
        last: The last decision, with jobs that have ended since; None before the first.

    Raises:
        InputError: A shape or a number cannot be used.

    Example:
        >>> from walras.rounds import JobsSnapshot
        >>> snapshot = JobsSnapshot.of(["a", "b"], speed=[[3.0, 1.0], [2.0, 2.0]], workers=[1, 1])
        >>> snapshot
        JobsSnapshot(2 jobs, 2 workers of 2 types, at 0 s)
    """

    at: float
    round_seconds: float
    name: tuple[str, ...]
    kind: tuple[str, ...]
    size: Longs
    weight: Floats
    arrival: Floats
    steps: Floats
    left: Floats
    deadline: Floats
    attempt: Longs
    received: Floats
    speed: Floats
    types: tuple[str, ...]
    workers: Longs
    group: Longs
    paired: Floats
    last: Shares | None = None

    def __post_init__(self) -> None:
        n = take_texts(self, "name", None, distinct=True)
        take_texts(self, "kind", n)
        t = take_texts(self, "types", None, distinct=True)
        for name in ("at", "round_seconds"):
            value = float(getattr(self, name))
            if not 0.0 <= value <= 1e300:
                raise InputError(f"is {value}", where=f"JobsSnapshot.{name}", allowed="0 or more")
            object.__setattr__(self, name, value)
        take(self, "size", np.int64, (n,), 1, LARGEST)
        take(self, "weight", np.float64, (n,), *WEIGHTS)
        for name in ("steps", "left"):
            take(self, name, np.float64, (n,), _TINY, 1e300)
        take(self, "arrival", np.float64, (n,), 0.0, 1e300)
        take(self, "deadline", np.float64, (n,), 0.0)
        take(self, "attempt", np.int64, (n,), 0, LARGEST)
        take(self, "received", np.float64, (n, t), 0.0, 1e300)
        take(self, "speed", np.float64, (n, t), 0.0, 1e300)
        take(self, "workers", np.int64, (t,), 1, LARGEST)
        g = len(self.paired)
        take(self, "paired", np.float64, (g, g, t), 0.0, 1e300)
        take(self, "group", np.int64, (n,), -1, g - 1)

    @classmethod
    def of(cls, name: list[str] | tuple[str, ...], **given: Any) -> JobsSnapshot:
        """A snapshot with defaults for what is not given.

        Args:
            name: (N,) names of the jobs, distinct.
            given: Other fields; ``speed`` (N, T) and ``workers`` (T,) are needed. The defaults of
                the others: time 0, rounds of 360 s, one class, size 1, weight 1, arrival 0, one
                step of which all is left, no deadline, no failure, nothing received, types
                ``type 0``, ``type 1``, ..., no job that shares its workers, no last decision.

        Returns:
            The snapshot.

        Raises:
            InputError: A shape or a number cannot be used, or ``speed`` or ``workers`` is missing.
        """
        known = [field for field in cls.__dataclass_fields__ if field != "name"]
        n = count_of(name, "JobsSnapshot.of", known, given)
        for needed in ("speed", "workers"):
            if needed not in given:
                raise InputError(
                    f"'{needed}' is missing",
                    where="JobsSnapshot.of",
                    allowed="speed (N, T) and workers (T,)",
                    remedy="give both",
                )
        t = len(given["workers"])
        made: dict[str, Any] = {
            "at": 0.0,
            "round_seconds": 360.0,
            "kind": ("job",) * n,
            "size": np.ones(n, np.int64),
            "types": tuple(f"type {k}" for k in range(t)),
            "received": np.zeros((n, t)),
            "arrival": np.zeros(n),
            "weight": np.ones(n),
            "steps": np.ones(n),
            "deadline": np.full(n, np.inf),
            "attempt": np.zeros(n, np.int64),
            "group": np.full(n, -1),
            "paired": np.zeros((0, 0, t)),
        }
        made |= given
        made.setdefault("left", made["steps"])
        return cls(name=tuple(name), **made)

    @classmethod
    def checked(cls, **fields: Any) -> JobsSnapshot:
        """A snapshot of fields that were checked before, such as rows of a trace.

        Args:
            fields: Every field, of its type and shape; the snapshot cannot change its arrays.

        Returns:
            The snapshot.
        """
        made = object.__new__(cls)
        for name, value in fields.items():
            held = value.view() if isinstance(value, np.ndarray) else value
            if isinstance(held, np.ndarray):
                held.flags.writeable = False
            object.__setattr__(made, name, held)
        return made

    def __len__(self) -> int:
        return len(self.name)

    @property
    def done(self) -> Floats:
        """(N,) steps that are done."""
        return self.steps - self.left

    @cached_property
    def fits(self) -> Bools:
        """(N, T) whether a job can run on a type: it has a speed there, and enough workers."""
        return np.asarray((self.speed > 0.0) & (self.size[:, None] <= self.workers[None, :]))

    @cached_property
    def held(self) -> Floats:
        """(N, T) each job's shares in the last decision; 0 where it was not there."""
        found = np.zeros(self.speed.shape)
        if self.last is not None and len(self.last):
            place = self.last.place_of
            at = np.array([place.get(name, -1) for name in self.name], np.int64)
            found[at >= 0] = self.last.time[at[at >= 0]]
        return found

    @cached_property
    def pairs(self) -> Pairs:
        """The pairs of jobs that may share workers, with the speeds of both."""
        return pairs_of(self.group, self.paired, self.size, self.fits)

    @cached_property
    def held_pairs(self) -> tuple[Longs, Floats]:
        """(Q, 2) jobs and (Q, T) shares of the pairs of the last decision that are both there."""
        if self.last is None or not len(self.last.pair):
            return np.zeros((0, 2), np.int64), np.zeros((0, len(self.types)))
        here = {name: j for j, name in enumerate(self.name)}
        now = np.array([here.get(name, -1) for name in self.last.name], np.int64)
        jobs = now[self.last.pair]
        both = (jobs >= 0).all(axis=1)
        return np.sort(jobs[both], axis=1), self.last.pair_time[both]

    def shares(self, time: npt.ArrayLike, **given: Any) -> Shares:
        """A decision about these jobs.

        Args:
            time: (N, T) share of the time that each job runs on each type.
            given: Other fields of :class:`Shares`.

        Returns:
            The decision.

        Raises:
            InputError: The shares are not numbers.
        """
        return Shares(self.name, self.types, np.asarray(time), **given)

    def to_bytes(self) -> bytes:
        """The canonical bytes; equal snapshots have equal bytes on every machine.

        Returns:
            The bytes, the hash of the last decision among them.
        """
        words, arrays = split(self)
        words = {k: v for k, v in words.items() if not k.startswith("last")}
        arrays = {k: v for k, v in arrays.items() if not k.startswith("last")}
        words["last"] = "" if self.last is None else self.last.hash
        return pack("jobs-snapshot", FORMAT, words, arrays)

    @cached_property
    def hash(self) -> str:
        """SHA-256 of the canonical bytes, hexadecimal."""
        return digest(self.to_bytes())

    def __repr__(self) -> str:
        workers = f"{int(self.workers.sum())} workers of {len(self.types)} types"
        return f"JobsSnapshot({len(self)} jobs, {workers}, at {self.at:g} s)"

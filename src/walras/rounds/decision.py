"""A decision: which task goes to which cluster, how good that is, and why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from walras.errors import DataError, InputError
from walras.files import replacing
from walras.rounds.blockers import Blockers
from walras.rounds.canonical import digest, pack, unpack
from walras.rounds.fields import LARGEST, part, split, take, take_texts
from walras.types import Bools, Floats, Longs

FORMAT = 1  # of a decision's bytes

BINDS = ("", "only", "quickest", "full", "floor", "provider", "drawn", "reserved", "no gain")
"""Why a task is on its cluster: it is the only one that the task can use; the quickest; quicker
ones are full; a quicker one would break the floor; quicker ones are of providers at their bound;
it was drawn at random; quicker ones keep their slots for a larger task; a quicker one would gain
the plan nothing."""


@dataclass(frozen=True, eq=False)
class Decision:
    """What a round decided of the N tasks and M clusters of a snapshot.

    Figures of a task are 0 where it was not placed; its blockers say why it was not.

    Attributes:
        snapshot: Hash of the snapshot.
        seed: The seed.
        policy: The policy, as JSON.
        predictor: Name of the predictor.
        state: ``ok``, or ``fallback`` where a later rung of the ladder gave the plan.
        method: How the plan was found.
        why: Why it is a fallback; empty where it is not.
        tasks: (N,) uids of the tasks.
        clusters: (M,) uids of the clusters.
        cluster: (N,) which cluster, or -1.
        seconds: (N,) predicted time there.
        seconds_low: (N,) lower end of its interval.
        seconds_high: (N,) upper end; infinite where nothing is promised.
        chance: (N,) predicted chance of success there.
        chance_low: (N,) lower end of its interval.
        chance_high: (N,) upper end.
        propensity: (N,) chance of this cluster where it was drawn at random, else 0.
        runner_up: (N,) the best other cluster, or -1.
        runner_up_seconds: (N,) predicted time there.
        runner_up_chance: (N,) predicted chance of success there.
        makespan_if_moved: (N,) makespan with the task at the runner-up.
        binds: (N,) why the task is on its cluster: an index into :data:`BINDS`.
        prices: (M,) shadow price: seconds of work that another free slot would save.
        floor_price: Seconds of work that a unit of mean success costs at the floor.
        makespan: Seconds until the last task placed is predicted to end.
        bound: Lower bound on the makespan of every plan for the same tasks.
        shortfall: Mean chance of success that is missing to the floor; 0 unless ``fallback``.
        blockers: Every reason why a task was not placed.

    Raises:
        InputError: A shape or a number cannot be used.

    Example:
        >>> from walras.rounds import Decision
        >>> empty = Decision.empty(("train",), ("east",))
        >>> empty.placed.sum(), empty.state
        (np.int64(0), 'ok')
    """

    snapshot: str
    seed: int
    policy: str
    predictor: str
    state: str
    method: str
    why: str
    tasks: tuple[str, ...]
    clusters: tuple[str, ...]
    cluster: Longs
    seconds: Floats
    seconds_low: Floats
    seconds_high: Floats
    chance: Floats
    chance_low: Floats
    chance_high: Floats
    propensity: Floats
    runner_up: Longs
    runner_up_seconds: Floats
    runner_up_chance: Floats
    makespan_if_moved: Floats
    binds: Longs
    prices: Floats
    floor_price: float
    makespan: float
    bound: float
    shortfall: float
    blockers: Blockers = field(repr=False)

    def __post_init__(self) -> None:
        n = take_texts(self, "tasks", None)
        m = take_texts(self, "clusters", None)
        take(self, "cluster", np.int64, (n,), -1, m - 1)
        take(self, "runner_up", np.int64, (n,), -1, m - 1)
        take(self, "binds", np.int64, (n,), 0, len(BINDS) - 1)
        for name in _SECONDS:
            take(self, name, np.float64, (n,), 0.0)
        for name in _CHANCES:
            take(self, name, np.float64, (n,), 0.0, 1.0)
        take(self, "prices", np.float64, (m,), 0.0, 1e300)
        for name in ("floor_price", "makespan", "bound", "shortfall"):
            value = float(getattr(self, name))
            if not 0.0 <= value <= 1e300:
                raise InputError(f"is {value}", where=f"Decision.{name}", allowed="finite, >= 0")
            object.__setattr__(self, name, value)
        if self.state not in ("ok", "fallback"):
            raise InputError(f"is '{self.state}'", where="Decision.state", allowed="ok, fallback")
        if not 0 <= self.seed <= LARGEST:
            raise InputError(f"is {self.seed}", where="Decision.seed", allowed=f"0 to {LARGEST}")

    @classmethod
    def empty(cls, tasks: tuple[str, ...], clusters: tuple[str, ...], **given: Any) -> Decision:
        """A decision that places nothing, with other fields where given.

        Args:
            tasks: (N,) uids of the tasks.
            clusters: (M,) uids of the clusters.
            given: Other fields.

        Returns:
            The decision.

        Raises:
            InputError: A shape or a number cannot be used.
        """
        n, m = len(tasks), len(clusters)
        made: dict[str, Any] = dict.fromkeys(
            ("snapshot", "policy", "predictor", "method", "why"), ""
        )
        made |= {"seed": 0, "state": "ok", "prices": np.zeros(m), "binds": np.zeros(n, np.int64)}
        made |= {name: np.zeros(n) for name in (*_SECONDS, *_CHANCES)}
        made |= {name: np.full(n, -1) for name in ("cluster", "runner_up")}
        made |= dict.fromkeys(("floor_price", "makespan", "bound", "shortfall"), 0.0)
        made["blockers"] = Blockers.none()
        return cls(tasks=tasks, clusters=clusters, **made | given)

    @cached_property
    def placed(self) -> Bools:
        """(N,) whether the task was placed."""
        return self.cluster >= 0

    @property
    def gap(self) -> float:
        """How far the makespan may be from the least one, relative to it."""
        return max(self.makespan - self.bound, 0.0) / self.makespan if self.makespan > 0 else 0.0

    @property
    def mean_success(self) -> float:
        """Mean chance of success of the tasks placed; 1 where none is."""
        return float(self.chance[self.placed].mean()) if self.placed.any() else 1.0

    def rows(self) -> Iterator[dict[str, Any]]:
        """One dictionary a task placed, of plain values: what a receipt tells.

        Yields:
            The figures of a task.
        """
        for j in np.flatnonzero(self.placed):
            yield self.row(int(j))

    def row(self, j: int) -> dict[str, Any]:
        """The figures of a task that was placed, as plain values.

        Args:
            j: Which task.

        Returns:
            Names and values; None for no runner-up, and for an end of an interval that is infinite.
        """
        other = int(self.runner_up[j])
        high = float(self.seconds_high[j])
        return {
            "task": self.tasks[j],
            "cluster": self.clusters[int(self.cluster[j])],
            "seconds": float(self.seconds[j]),
            "seconds_interval": [float(self.seconds_low[j]), high if np.isfinite(high) else None],
            "chance": float(self.chance[j]),
            "chance_interval": [float(self.chance_low[j]), float(self.chance_high[j])],
            "runner_up": self.clusters[other] if other >= 0 else None,
            "runner_up_seconds": float(self.runner_up_seconds[j]) if other >= 0 else None,
            "runner_up_chance": float(self.runner_up_chance[j]) if other >= 0 else None,
            "makespan_if_moved": float(self.makespan_if_moved[j]) if other >= 0 else None,
            "binds": BINDS[int(self.binds[j])],
            "slot_price": float(self.prices[int(self.cluster[j])]),
            "floor_price": self.floor_price,
            "propensity": float(self.propensity[j]) or None,
        }

    def to_bytes(self) -> bytes:
        """The canonical bytes; equal decisions have equal bytes on every machine.

        Returns:
            The bytes.
        """
        return pack("decision", FORMAT, *split(self))

    @classmethod
    def from_bytes(cls, data: bytes) -> Decision:
        """The decision of canonical bytes.

        Args:
            data: What :meth:`to_bytes` gave.

        Returns:
            The decision.

        Raises:
            DataError: The bytes are of something else, or damaged.
        """
        words, arrays = unpack("decision", FORMAT, data)
        given = words | arrays
        try:
            own = {k: v for k, v in given.items() if not k.startswith("blockers.")}
            return cls(**own, blockers=Blockers(**part(given, "blockers.")))
        except (KeyError, TypeError, ValueError, InputError) as error:
            raise DataError(
                f"the bytes hold no decision: {error}",
                where="decision",
                allowed="the canonical bytes of a decision",
                remedy="read it again from where it was stored",
            ) from error

    @cached_property
    def hash(self) -> str:
        """SHA-256 of the canonical bytes, hexadecimal."""
        return digest(self.to_bytes())

    def save(self, path: str | Path) -> None:
        """Write the canonical bytes to a file, which :func:`walras.rounds.load` reads.

        Args:
            path: The file.

        Raises:
            DataError: The file cannot be written.
        """
        with replacing(path) as fresh:
            fresh.write_bytes(self.to_bytes())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Decision) and self.to_bytes() == other.to_bytes()

    def __hash__(self) -> int:
        return hash(self.hash)

    def __repr__(self) -> str:
        placed, n = int(self.placed.sum()), len(self.tasks)
        words = f"{placed} of {n} tasks placed, makespan {self.makespan:.6g} s, gap {self.gap:.1e}"
        return f"Decision({self.state}, {words})"


_SECONDS = (
    "seconds",
    "seconds_low",
    "seconds_high",
    "runner_up_seconds",
    "makespan_if_moved",
)
_CHANCES = ("chance", "chance_low", "chance_high", "propensity", "runner_up_chance")

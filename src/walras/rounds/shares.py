"""A decision of a time-shared round: which share of the time each job has on each type."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from walras.checks import reals
from walras.errors import InputError
from walras.rounds.canonical import digest, pack
from walras.rounds.fields import take_texts
from walras.types import Floats, Longs

FORMAT = 2  # of a decision's bytes


@dataclass(frozen=True, eq=False)
class Shares:
    """Shares of time by job and type; :func:`walras.rounds.check` judges them.

    Shapes and names are those that a policy gave: nothing is refused here, so that a bad decision
    can be named and counted by whoever asked for it.

    Attributes:
        name: (N,) names of the jobs, as in the snapshot.
        types: (T,) names of the types, as in the snapshot.
        time: (N, T) share of the time from 0 to 1 that a job runs on a type alone.
        pair: (P, 2) places of two jobs that share workers, each pair once.
        pair_time: (P, T) share of the time that a pair runs on a type.
        value: What the policy maximises or minimises, at these shares; NaN where it has no such
            number.
        bound: What no shares could better; NaN where none is known.
        seconds: Seconds that the policy took.
        policy: The policy's name.
        spare: Whether workers that no share claims go to any job that waits.
        blind: Whether the policy knows no speeds, so that no type comes before another.
        notes: Name -> (N,) numbers by job that the policy wants back with the next snapshot.

    Raises:
        InputError: The names are not texts, or the shares are not numbers.

    Example:
        >>> import numpy as np
        >>> from walras.rounds import Shares
        >>> Shares(("a", "b"), ("gpu",), np.array([[0.75], [0.25]]))
        Shares(2 jobs, 1 types, value nan)
    """

    name: tuple[str, ...]
    types: tuple[str, ...]
    time: Floats
    pair: Longs = field(default_factory=lambda: np.zeros((0, 2), np.int64))
    pair_time: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    value: float = float("nan")
    bound: float = float("nan")
    seconds: float = 0.0
    policy: str = ""
    spare: bool = True
    blind: bool = False
    notes: Mapping[str, Floats] = field(default_factory=dict)

    def __post_init__(self) -> None:
        take_texts(self, "name", None)
        take_texts(self, "types", None)
        try:
            made = np.array(reals(self.time))
            pair = np.array(self.pair, np.int64)
            pair_time = np.array(reals(self.pair_time))
            float(self.value), float(self.bound)
            notes = {str(k): np.array(reals(v)) for k, v in dict(self.notes).items()}
        except (TypeError, ValueError, OverflowError) as error:
            raise InputError(
                f"is not numeric: {error}",
                where="Shares",
                allowed="numbers: (N, T) shares of time, and one value and bound",
            ) from error
        if not len(pair) and not pair_time.size:
            pair_time = np.zeros((0, len(self.types)))
        for array in (made, pair, pair_time, *notes.values()):
            array.flags.writeable = False
        object.__setattr__(self, "time", made)
        object.__setattr__(self, "pair", pair)
        object.__setattr__(self, "pair_time", pair_time)
        object.__setattr__(self, "notes", notes)

    def __len__(self) -> int:
        return len(self.name)

    @property
    def gap(self) -> float:
        """How far the value may be from the best one, relative to it; NaN where unknown."""
        return abs(self.value - self.bound) / max(abs(self.value), np.finfo(float).tiny)

    @cached_property
    def place_of(self) -> dict[str, int]:
        """Place of each job by its name."""
        return {name: j for j, name in enumerate(self.name)}

    @cached_property
    def hash(self) -> str:
        """SHA-256 of the canonical bytes without the seconds, hexadecimal."""
        numbers = {k: repr(getattr(self, k)) for k in ("value", "bound", "spare", "blind")}
        words = {"name": self.name, "types": self.types, "policy": self.policy, **numbers}
        notes = {f"notes.{k}": v for k, v in self.notes.items()}
        arrays = {"time": self.time, "pair": self.pair, "pair_time": self.pair_time}
        return digest(pack("shares", FORMAT, words, arrays | notes))

    def __repr__(self) -> str:
        return f"Shares({len(self)} jobs, {len(self.types)} types, value {self.value:.6g})"

"""What happened in each round, written down as it goes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from walras.types import Floats

COLUMNS = ("at", "active", "running")
"""Columns before the busy worker-seconds by type."""


class _Decided(NamedTuple):
    """A decision: the row of the round that follows it, and what is known of it."""

    row: int
    seconds: float
    refused: bool
    value: float
    bound: float


class RoundsLog:
    """Rows of rounds, with what was decided before them.

    Args:
        types: Number of types.
    """

    def __init__(self, types: int) -> None:
        self._parts: list[Floats] = []
        self._overhead: list[Floats] = []
        self._decided: list[_Decided] = []
        self._fairness: list[float] = []
        self._width = len(COLUMNS) + types
        self.rounds = 0

    def decide(self, seconds: float, refused: int, value: float, bound: float) -> None:
        """Note a decision before the next round."""
        self._decided.append(_Decided(self.rounds, seconds, refused > 0, value, bound))

    def served(self, fairness: float) -> None:
        """Note how evenly the last decision was served."""
        self._fairness.append(fairness)

    def add(self, rows: Floats, seconds: float) -> None:
        """Note rounds and the seconds that the simulator took for them."""
        if not len(rows):
            return
        self._parts.append(rows.copy())
        self._overhead.append(np.full(len(rows), seconds / len(rows)))
        self.rounds += len(rows)

    def arrays(self) -> Mapping[str, Floats]:
        """The columns by name; ``busy`` has one column a type.

        Value, bound and fairness are NaN in rounds without a decision; of several decisions before
        one round the last counts, and their numbers and seconds add up.
        """
        rows = np.concatenate([np.zeros((0, self._width)), *self._parts])
        made = {name: rows[:, k] for k, name in enumerate(COLUMNS)}
        made["busy"] = rows[:, len(COLUMNS) :]
        made["overhead"] = np.concatenate([np.zeros(0), *self._overhead])
        made |= {name: np.zeros(len(rows)) for name in ("decisions", "refused", "policy")}
        made |= {name: np.full(len(rows), np.nan) for name in ("value", "bound", "fairness")}
        for k, one in enumerate(self._decided):
            if one.row == len(rows):
                break  # no round followed
            made["decisions"][one.row] += 1
            made["refused"][one.row] += one.refused
            made["policy"][one.row] += one.seconds
            made["value"][one.row], made["bound"][one.row] = one.value, one.bound
            if k < len(self._fairness):
                made["fairness"][one.row] = self._fairness[k]
        return made

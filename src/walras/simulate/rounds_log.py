"""What happened in each round, written down as it goes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from walras.types import Floats

COLUMNS = ("at", "active", "running")
"""Columns before the busy worker-seconds by type."""


class RoundsLog:
    """Rows of rounds, with what was decided before them.

    Args:
        types: Number of types.
    """

    def __init__(self, types: int) -> None:
        self._parts: list[Floats] = []
        self._decided: list[Floats] = []
        self._width = len(COLUMNS) + types
        self._decision = np.zeros(
            3
        )  # decisions, refused ones, policy's seconds before the next row
        self.rounds = 0

    def decide(self, seconds: float, refused: int) -> None:
        """Note a decision before the next round."""
        self._decision += (1.0, float(refused > 0), seconds)

    def add(self, rows: Floats, seconds: float) -> None:
        """Note rounds and the seconds that the simulator took for them."""
        if not len(rows):
            return
        beside = np.zeros((len(rows), 4))
        beside[0, :3] = self._decision
        beside[:, 3] = seconds / len(rows)
        self._decision = np.zeros(3)
        self._parts.append(rows.copy())
        self._decided.append(beside)
        self.rounds += len(rows)

    def arrays(self) -> Mapping[str, Floats]:
        """The columns by name; ``busy`` has one column a type."""
        rows = np.concatenate([np.zeros((0, self._width)), *self._parts])
        beside = np.concatenate([np.zeros((0, 4)), *self._decided])
        named = {name: rows[:, k] for k, name in enumerate(COLUMNS)}
        named["busy"] = rows[:, len(COLUMNS) :]
        names = ("decisions", "refused", "policy", "overhead")
        return named | {name: beside[:, k] for k, name in enumerate(names)}

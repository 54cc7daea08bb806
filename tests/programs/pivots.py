"""Pivots of HiGHS' simplex method, counted."""

from __future__ import annotations

from typing import Any

import highspy
import pytest

from walras.programs import highs
from walras.programs.highs import Answer


def count_pivots(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A list that gets the number of pivots of every solve from here on."""
    pivots: list[int] = []

    def run(solver: highspy.Highs, *given: Any) -> Answer:
        found = ran(solver, *given)
        pivots.append(int(solver.getInfo().simplex_iteration_count))
        return found

    ran = highs.run
    monkeypatch.setattr(highs, "run", run)
    return pivots

"""Levels of leximin as data: what they hold cannot be written to."""

from __future__ import annotations

import numpy as np
import pytest

from walras.leximin.levels import Level


@pytest.mark.parametrize("name", ["frozen", "prices"])
def test_a_level_cannot_be_written_to_and_leaves_its_makers_arrays_alone(name: str) -> None:
    given = {"frozen": np.array([True, False]), "prices": np.array([1.0, 2.0])}
    level = Level(1.0, 1.0, 0.0, given["frozen"], given["prices"])
    with pytest.raises(ValueError, match="read-only"):
        getattr(level, name)[0] = 0
    given[name][0] = 0

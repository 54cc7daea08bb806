"""Liveness where all crashes are known, and who takes over what the dead held."""

from __future__ import annotations

import numpy as np

from walras import network as wn
from walras.network.methods.liveness import Liveness


def test_the_first_centre_that_never_crashed_takes_over_also_after_a_return() -> None:
    life = Liveness(wn.Faults(crashes=[(0, 2, 10), (1, 20)], lease=3), 4)
    none = np.zeros(0, np.int64)
    assert life.coordinator == 0
    for number in range(12):
        dead = life.advance(number, lambda centre: none)
        life.settled[dead] = True
        assert dead == ([0] if number == 5 else [])
        assert life.rejoining(number) == ([0] if number == 10 else [])
        assert life.coordinator == (0 if number < 2 else 1)
    assert life.alive.all()
    for number in range(12, 24):
        life.advance(number, lambda centre: none)
    assert life.coordinator == 2

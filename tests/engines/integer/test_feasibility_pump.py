"""The feasibility pump offers integer points, and shakes when they come back."""

from __future__ import annotations

import numpy as np
from tests.bank.bank import WHOLE

from walras.engines.integer import Integer
from walras.engines.integer import feasibility_pump as pump
from walras.settings import Settings

ALL_STAGES = Integer(exact_entries=0)


def test_the_pump_offers_whole_points_and_shakes_when_it_cycles() -> None:
    case = next(case for case in WHOLE if case.name == "bins")
    offered: list[np.ndarray] = []

    def take(x: np.ndarray) -> bool:
        offered.append(x)
        return len(offered) == 6

    half = np.full(case.base.entries, 0.5)
    pump.pump(case.base, half, Settings(time_limit=20.0), ALL_STAGES, take)
    assert len(offered) == 6
    assert all(np.all(x == np.round(x)) for x in offered)
    assert len({x.tobytes() for x in offered}) >= 3

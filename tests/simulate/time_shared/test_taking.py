"""New shares are counted from zero, and what is owed under the last ones stays."""

from __future__ import annotations

import numpy as np

from walras.simulate.time_shared.state import Jobs, start
from walras.simulate.time_shared.taking import take_over


def test_what_is_owed_stays_and_shares_are_those_that_were_granted() -> None:
    ones = np.ones(3)
    state = start(Jobs(ones, np.ones(3, int), ones, np.ones((3, 2)), ones > 0), 360.0, 0.0)
    state.share[:], state.had[:], state.owed[:] = 0.5, 30.0, 1.0
    here, jobs, up = np.array([0, 2]), np.array([2]), np.array([1])
    take_over(here, 100.0, jobs, up, np.array([[0.25]]), state)
    assert state.owed.tolist() == [[21.0, 21.0], [1.0, 1.0], [21.0, 21.0]]
    assert state.share.tolist() == [[0.0, 0.0], [0.5, 0.5], [0.0, 0.25]]
    assert state.had.tolist() == [[0.0, 0.0], [30.0, 30.0], [0.0, 0.0]]
